"""The page's part on annotation sources, from made-up correlations."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annotations import page as annotations
from ragrelay.annotations.cost import COLUMNS as COST
from ragrelay.annotations.cost import EACH
from ragrelay.annotations.study import TABLES, AnnotationStudy, read_annotations
from ragrelay.annotations.study_tables import TABLE_COLUMNS
from ragrelay.display.chart_files import draw
from ragrelay.io.atomic_files import write_csv
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.vocabulary.columns import schema_of

from tests.support.report_study import write_study

VALUES = {("erag", "P"): 0.6, ("erag", "nDCG"): 0.5, ("qrels", "P"): 0.2, ("qrels", "nDCG"): 0.55}
DENSE = {("erag", "P"): 0.1, ("erag", "nDCG"): None, ("qrels", "P"): 0.3, ("qrels", "nDCG"): 0.2}


def table(source: str = "erag") -> pl.DataFrame:
    """Two retrievers, two cutoffs; what the first choice shows is k = 5; eRAG leads on bm25 alone, and that holds."""
    rows: list[dict[str, Any]] = []
    for retriever, values in (("bm25", VALUES), ("dense", DENSE)):
        for k in (2, 5):
            for quantity, coefficient in product(("p", "utility"), ("pearson", "kendall")):
                best = max(value for value in values.values() if value is not None)
                for (name, measure), value in values.items():
                    ends = {"low": value - 0.1, "high": value + 0.1} if value is not None else {"reason": "constant"}
                    rows.append({
                        "dataset": "demo", "generator": "lm", "scorer": "minilm", "kind": name,
                        "source": source if name == "erag" else name, "measure": measure,
                        "retriever": retriever, "k": k, "references": "lenient", "quantity": quantity,
                        "coefficient": coefficient, "value": value, "n": 36, "best": value == best,
                        "holds": value == best and retriever == "bm25", **ends,
                    })  # fmt: skip
    return pl.DataFrame(rows, schema=schema_of(TABLE_COLUMNS))


def study(correlations: pl.DataFrame, **tables: pl.DataFrame) -> AnnotationStudy:
    """With both quantities alike, and no leads or correlations within queries but those given."""
    none = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    return AnnotationStudy("minilm", {**none, "annotations": correlations, **tables}, cost())


def cost() -> pl.DataFrame:
    row = {"what": EACH, "k": 1, "calls": 1234, "prompt_tokens": 2000, "cached_tokens": 500, "answer_tokens": 900,
           "device_seconds": 12.5, "peak_memory_mib": 800, "made_by": "vllm"}  # fmt: skip
    return pl.DataFrame([{"dataset": "demo", "generator": "lm", **row}], schema=schema_of(COST))


def test_sentences_say_where_the_generators_labels_are_ahead_and_where_not() -> None:
    told = annotations.sentences(study(table()))
    assert "eRAG’s labels follow utility more closely than the qrels do in 1 of 2 columns" in told[0]
    assert told[0].endswith("and do not for demo · lm · dense.")
    assert told[1] == (
        "demo · lm · bm25, utility: erag (precision) 0.600 [0.500, 0.700] and qrels (nDCG) 0.550 [0.450, 0.650]; "
        "its lead holds."
    )
    assert told[2].endswith("the first one’s lead does not hold.")
    assert [sentence.replace("utility", "P") for sentence in told[:3]] == told[3:], "P comes second"


def test_where_no_lead_holds_that_comes_first() -> None:
    undecided = table().with_columns(holds=pl.lit(False))
    told = annotations.sentences(study(undecided))
    assert told[0].startswith("No lead holds")
    assert "eRAG’s labels" in told[1]


def test_the_null_stands_beside_and_within_queries_comes_first() -> None:
    part = {"dataset": "demo", "generator": "lm", "scorer": "minilm", "k": 5, "references": "lenient"}
    null = table().filter(kind="qrels").with_columns(kind=pl.lit("zeroshot"), source=pl.lit("p0"), holds=False)
    ahead = {**part, "comparison": "null", "retriever": "bm25", "quantity": "utility", "coefficient": "kendall",
             "source": "erag", "measure": "P", "against_source": "p0", "lead": 0.4, "holds": True}  # fmt: skip
    same = {**part, "ordering": "descending", "measure": "P", "retrievers": "all", "n_retrievers": 2}
    within = [{**same, "source": "erag", "r": 0.5, "low": 0.4, "high": 0.6, "verdict": "above zero"},
              {**same, "source": "p0", "reason": "all passages of a query have the same label"}]  # fmt: skip
    told = annotations.sentences(
        study(
            pl.concat([table(), null]),
            annotation_leads=pl.DataFrame([ahead], schema=schema_of(TABLES["annotation_leads"])),
            annotation_within=pl.DataFrame(within, schema=schema_of(TABLES["annotation_within"])),
        )
    )
    assert told[0] == (
        "demo · lm, within queries over 2 retrievers, r of precision and P: erag 0.500 [0.400, 0.600] (above zero) and "
        "p0 has none (all passages of a query have the same label)."
    )
    of_utility = [sentence for sentence in told if ", utility: " in sentence]
    assert of_utility[0].endswith("ahead of the null, p0, is erag.")
    assert of_utility[1].endswith("ahead of the null, p0, is none.")
    shown = annotations.within_table(study(table(), annotation_within=pl.DataFrame(
        within, schema=schema_of(TABLES["annotation_within"])
    )))  # fmt: skip
    assert [row[7] for row in shown.rows] == ["0.50 [0.40, 0.60]", "–"]


def test_table_marks_the_best_and_what_holds() -> None:
    shown = annotations.annotation_table(study(table()))
    rows = {(row[1], row[4], row[5], row[6]): row[7:] for row in shown.rows if row[3] == "utility"}
    assert rows["5", "Kendall’s tau", "erag", "precision"] == ["0.60 [0.50, 0.70] ★", "0.10 [0.00, 0.20]"]
    assert rows["5", "Kendall’s tau", "qrels", "precision"] == ["0.20 [0.10, 0.30]", "0.30 [0.20, 0.40] •"]
    assert rows["2", "Pearson’s r", "erag", "nDCG"][1] == "–"
    assert [column.chosen for column in shown.columns[:5]] == ["lm", "5", "lenient", "utility", "Kendall’s tau"]


@pytest.mark.parametrize("values", [table(), table().with_columns(value=pl.lit(None, pl.Float64))])
def test_figure_is_drawn_even_without_any_correlation(values: pl.DataFrame, tmp_path: Path) -> None:
    spec = annotations.correlation_by_depth(study(values), "paper")
    draw(spec, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 500


def test_page_has_the_part_with_names_escaped(tmp_path: Path) -> None:
    hostile = "<img src=x>"
    for name, frame in study(table(hostile)).tables.items():
        write_csv(frame, tmp_path / f"{name}.csv")
    write_csv(cost(), tmp_path / "cost.csv")
    read = read_annotations(["minilm"], {name: [tmp_path / f"{name}.csv"] for name in TABLES}, [tmp_path / "cost.csv"])
    whole = read_study(**write_study(tmp_path / "study"))
    assert "Annotation sources" not in render_page(whole)
    page = render_page(replace(whole, annotations=read))
    assert '<a href="#annotations">Annotation sources</a>' in page
    assert "1,234" in page and "annotations1-annotations" in page
    assert "&lt;img src=x&gt;" in page and hostile not in page
