"""The page's part on annotation sources, from made-up correlations."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annotations import page as annotations
from ragrelay.annotations.cost import COLUMNS as COST
from ragrelay.annotations.cost import EACH
from ragrelay.annotations.study import AnnotationStudy, read_annotations
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
            for coefficient in ("pearson", "kendall"):
                best = max(value for value in values.values() if value is not None)
                for (name, measure), value in values.items():
                    ends = {"low": value - 0.1, "high": value + 0.1} if value is not None else {"reason": "constant"}
                    rows.append({
                        "dataset": "demo", "generator": "lm", "scorer": "minilm", "kind": name,
                        "source": source if name == "erag" else name, "measure": measure,
                        "retriever": retriever, "k": k, "references": "lenient", "quantity": "p",
                        "coefficient": coefficient, "value": value, "n": 36, "best": value == best,
                        "holds": value == best and retriever == "bm25", **ends,
                    })  # fmt: skip
    return pl.DataFrame(rows, schema=schema_of(TABLE_COLUMNS))


def cost() -> pl.DataFrame:
    row = {"what": EACH, "k": 1, "calls": 1234, "prompt_tokens": 2000, "cached_tokens": 500, "answer_tokens": 900,
           "device_seconds": 12.5, "peak_memory_mib": 800, "made_by": "vllm"}  # fmt: skip
    return pl.DataFrame([{"dataset": "demo", "generator": "lm", **row}], schema=schema_of(COST))


def test_sentences_say_where_the_generators_labels_are_ahead_and_where_not() -> None:
    told = annotations.sentences(AnnotationStudy("minilm", {"annotations": table()}, cost()))
    assert "eRAG’s labels follow P more closely than the qrels do in 1 of 2 columns" in told[0]
    assert told[0].endswith("and do not for demo · lm · dense.")
    assert told[1] == (
        "demo · lm · bm25: erag (precision) 0.600 [0.500, 0.700] and qrels (nDCG) 0.550 [0.450, 0.650]; its lead holds."
    )
    assert told[2].endswith("the first one’s lead does not hold.")


def test_where_no_lead_holds_that_comes_first() -> None:
    undecided = table().with_columns(holds=pl.lit(False))
    told = annotations.sentences(AnnotationStudy("minilm", {"annotations": undecided}, cost()))
    assert told[0].startswith("No lead holds")
    assert "eRAG’s labels" in told[1]


def test_table_marks_the_best_and_what_holds() -> None:
    shown = annotations.annotation_table(AnnotationStudy("minilm", {"annotations": table()}, cost()))
    rows = {(row[1], row[4], row[5], row[6]): row[7:] for row in shown.rows}
    assert rows["5", "Kendall’s tau", "erag", "precision"] == ["0.60 [0.50, 0.70] ★", "0.10 [0.00, 0.20]"]
    assert rows["5", "Kendall’s tau", "qrels", "precision"] == ["0.20 [0.10, 0.30]", "0.30 [0.20, 0.40] •"]
    assert rows["2", "Pearson’s r", "erag", "nDCG"][1] == "–"
    assert [column.chosen for column in shown.columns[:5]] == ["lm", "5", "lenient", "P", "Kendall’s tau"]


@pytest.mark.parametrize("values", [table(), table().with_columns(value=pl.lit(None, pl.Float64))])
def test_figure_is_drawn_even_without_any_correlation(values: pl.DataFrame, tmp_path: Path) -> None:
    spec = annotations.correlation_by_depth(AnnotationStudy("minilm", {"annotations": values}, cost()), "paper")
    draw(spec, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 500


def test_page_has_the_part_with_names_escaped(tmp_path: Path) -> None:
    hostile = "<img src=x>"
    write_csv(table(hostile), tmp_path / "table.csv")
    write_csv(cost(), tmp_path / "cost.csv")
    read = read_annotations(["minilm"], [tmp_path / "table.csv"], [tmp_path / "cost.csv"])
    study = read_study(**write_study(tmp_path / "study"))
    assert "Annotation sources" not in render_page(study)
    page = render_page(replace(study, annotations=read))
    assert '<a href="#annotations">Annotation sources</a>' in page
    assert "1,234" in page and "annotations1-annotations" in page
    assert "&lt;img src=x&gt;" in page and hostile not in page
