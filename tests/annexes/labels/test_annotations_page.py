"""The page's part on annotation sources, from made-up correlations."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.labels import page as annotations
from ragrelay.annexes.labels import paper_figures
from ragrelay.annexes.labels.annex import Labels
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.cost import COLUMNS as COST
from ragrelay.annexes.labels.cost import EACH
from ragrelay.annexes.labels.leads import leads
from ragrelay.annexes.labels.sentences import label_sentences
from ragrelay.annexes.labels.study import TABLES, AnnotationStudy, read_annotations
from ragrelay.annexes.labels.study_tables import TABLE_COLUMNS, gather
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import named, schema_of
from ragrelay.report.display.chart_files import draw
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.study import AnnexPart

from tests.support.report_study import write_study

pytestmark = pytest.mark.page

VALUES = {("erag", "P"): 0.6, ("erag", "nDCG"): 0.5, ("qrels", "P"): 0.2, ("qrels", "nDCG"): 0.55}
NUMBERS = r"(−?[\d.]+) \[(−?[\d.]+), (−?[\d.]+)\]"
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
    """Make a study of these correlations, without leads or correlations within queries but those given."""
    none = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    return AnnotationStudy("minilm", {**none, "annotations": correlations, **tables}, cost())


def cost() -> pl.DataFrame:
    row = {"what": EACH, "k": 1, "calls": 1234, "prompt_tokens": 2000, "cached_tokens": 500, "answer_tokens": 900,
           "device_seconds": 12.5, "peak_memory_mib": 800, "gpu_memory_mib": None, "made_by": "vllm"}  # fmt: skip
    return pl.DataFrame([{"dataset": "demo", "generator": "lm", **row}], schema=schema_of(COST))


def test_sentences_say_where_the_generators_labels_are_ahead_and_where_not() -> None:
    told = label_sentences(study(table()))
    assert told[0] == (
        "The source whose labels correlate best with utility has a significant lead over the runner-up (after Holm’s "
        "correction) in 1 of 2 combinations of dataset, generator and retriever: erag (demo · lm · bm25)."
    )
    assert told[1] == (
        "demo · lm · bm25: Kendall’s τ with utility is 0.600 [0.500, 0.700] for erag (precision) and 0.550 [0.450, "
        "0.650] for qrels (nDCG); erag’s lead over qrels is significant."
    )
    assert told[2].endswith("; qrels’s lead over erag is not significant.")
    assert [sentence.replace("utility", "P") for sentence in told[:3]] == told[3:], "P comes second"


def test_where_no_lead_is_significant_that_comes_first() -> None:
    undecided = table().with_columns(holds=pl.lit(False))
    told = label_sentences(study(undecided))
    leads = [sentence for sentence in told if "(after Holm’s correction) in 0 of 2 combinations" in sentence]
    assert leads == [told[0], told[3]], "of utility, and of P"
    assert sum("is not significant" in sentence for sentence in told) == 4
    alone = undecided.filter(source="qrels")
    assert not any("lead" in sentence for sentence in label_sentences(study(alone))), "a lone source has none"


def test_the_null_is_compared_and_within_queries_comes_first() -> None:
    part = {"dataset": "demo", "generator": "lm", "scorer": "minilm", "k": 5, "references": "lenient"}
    null = table().filter(kind="qrels").with_columns(kind=pl.lit("zeroshot"), source=pl.lit("p0"), holds=False)
    ahead = {**part, "comparison": "null", "retriever": "bm25", "quantity": "utility", "coefficient": "kendall",
             "source": "erag", "measure": "P", "against_source": "p0", "lead": 0.4, "holds": True}  # fmt: skip
    same = {**part, "ordering": "descending", "measure": "P", "retrievers": "all", "n_retrievers": 2}
    within = [{**same, "source": "erag", "r": 0.5, "low": 0.4, "high": 0.6, "verdict": "above zero"},
              {**same, "source": "p0", "reason": "all passages of a query have the same label"}]  # fmt: skip
    behind = {**ahead, "retriever": "dense", "source": "qrels", "lead": -0.4}
    choice = {**same, "quantity": "p", "n": 36, "low": 0.1, "high": 0.3, "p_value": 0.001, "p_holm": 0.002}
    choices = [{**choice, "source": "erag", "mean_difference": 0.2, "verdict": "better"},
               {**choice, "source": "qrels", "mean_difference": 0.01, "verdict": "undecided", "p_holm": 0.3},
               {**choice, "source": "erag", "quantity": "utility", "mean_difference": 0.5},
               {**same, "source": "p0", "quantity": "p", "verdict": "undecided", "reason": "the same"}]  # fmt: skip
    told = label_sentences(
        study(
            pl.concat([table(), null]),
            annotation_leads=pl.DataFrame([ahead, behind], schema=schema_of(TABLES["annotation_leads"])),
            annotation_choices=pl.DataFrame(choices, schema=schema_of(TABLES["annotation_choices"])),
            annotation_within=pl.DataFrame(within, schema=schema_of(TABLES["annotation_within"])),
        )
    )
    assert told[0] == (
        "demo · lm: the within-query correlation r between P and precision computed from a source’s labels (over 2 "
        "retrievers) is 0.500 [0.400, 0.600] for erag (above zero) and undefined for p0 (all passages of a query have "
        "the same label)."
    )
    assert told[1] == (
        "demo · lm: for each query, the context with the highest precision according to a source’s labels is compared "
        "with a random choice from the 2 retrievers’ contexts (this is the null, because p0 always chooses at random). "
        "Verdicts on mean P over up to 36 queries: better with erag "
        "(0.200 [0.100, 0.300]); undecided with qrels (0.010 [0.100, 0.300]). 1 verdict is significant after Holm’s "
        "correction. Mean utility changes by 0.500 [0.100, 0.300] with erag."
    )
    of_utility = [sentence for sentence in told if "τ with utility is" in sentence]
    assert of_utility[0].endswith("; erag is significantly ahead of the null, p0.")
    assert of_utility[1].endswith(
        "; no source is significantly ahead of the null, p0; qrels is significantly behind it."
    )
    shown = annotations.label_within_table(study(table(), annotation_within=pl.DataFrame(
        within, schema=schema_of(TABLES["annotation_within"])
    )))  # fmt: skip
    assert [row[7] for row in shown.rows] == ["0.50 [0.40, 0.60]", "–"]


def drawn(seed: int, folder: Path) -> AnnotationStudy:
    """Two retrievers, 30 queries; sources that follow P more or less, and one that knows the query's P_0 alone."""
    draws = np.random.default_rng(seed)
    noise = {"erag": draws.choice([0.02, 0.1, 0.3]), "qrels": draws.choice([0.1, 0.3, 3.0]), "p0": None}
    values, ends = [], []
    for qid in range(30):
        p0 = draws.uniform(0.3, 0.7)
        for retriever in ("bm25", "dense"):
            cell = {"retriever": retriever, "k": 2, "references": "lenient", "qid": f"q{qid}"}
            p = p0 + draws.normal(0.02, 0.1)
            ends.append(cell | {"ordering": "descending", "p": p, "p0": p0, "utility": p / p0 - 1})
            for source, size in noise.items():
                value = p0 if size is None else p + size * draws.standard_normal()
                values.append(cell | {"source": source, "measure": "P", "value": value, "n_ranked": 2})
    labels, utility = (pl.DataFrame(rows, infer_schema_length=None) for rows in (values, ends))
    correlations, part = label_correlations(labels, utility, 200, 0), {"dataset": "d", "generator": "g", "scorer": "s"}
    who = {"bm25": "bm25", "dense": "dense"}, ["p0"]
    made = [correlations, leads(correlations, labels, utility, 200, 0, ["p0"]), label_within(labels, utility, *who),
            label_choices(labels, utility, *who)]  # fmt: skip
    files = [[folder / f"{place}.csv"] for place in range(len(made))]
    for frame, (path,) in zip(made, files, strict=True):
        write_csv(named(frame, part), path)
    kinds = {"erag": "erag", "qrels": "qrels", "p0": "zeroshot"}
    return AnnotationStudy("s", gather(*files, kinds=kinds), cost())


@pytest.mark.parametrize("seed", range(6))
def test_no_two_sentences_contradict_each_other(seed: int, tmp_path: Path) -> None:
    shown = drawn(seed, tmp_path)
    told = label_sentences(shown)
    for quantity in ("utility", "P"):
        columns = [one for one in told if f"τ with {quantity} is" in one]
        (counted,) = [one for one in told if one.startswith("The source whose") and f"{quantity} " in one]
        significant = 0
        assert len(columns) == 2
        for one in columns:
            values = {name: float(value.replace("−", "-"))
                      for value, name in re.findall(r"(−?[\d.]+) \[[^]]*\] for (\w+) \(precision\)", one)}  # fmt: skip
            first, second, last = values
            assert values[first] >= values[second] >= values[last]
            ahead, behind = (
                re.findall(rf"; ([^;]+) (?:is|are) significantly {word}", one) for word in ("ahead", "behind")
            )
            for names, sign in ((ahead, 1), (behind, -1)):
                for name in re.findall(r"erag|qrels", " ".join(names)):
                    assert sign * (values[name] - values["p0"]) > 0
            lead = f"; {first}’s lead over {second} is "
            by_null = (second == "p0" and first in ahead[0]) or (first == "p0" and second in "".join(behind))
            assert (lead in one) == (not by_null and second != "p0")
            significant += by_null or f"{lead}significant" in one
        assert f"over the runner-up (after Holm’s correction) in {significant} of 2 combinations" in counted
    within = re.findall(rf"{NUMBERS} for (\w+) \((?:sign )?(above zero|below zero|undecided)\)", told[0])
    spoken = [(name, *numbers, word) for *numbers, name, word in within]
    for clause in told[1].split("; "):
        word = re.search("better|worse|undecided", clause)
        found = re.findall(rf"(\w+) \({NUMBERS}\)", clause)
        spoken += [(*one, word[0]) for one in found if word]
    assert sorted(name for name, *_ in spoken) == ["erag", "erag", "qrels", "qrels"]
    for _, value, low, high, word in spoken:
        side = {"above zero": "", "better": "", "below zero": "−", "worse": "−"}.get(word)
        ends = {one[: one.startswith("−")] for one in (value, low, high) if float(one.strip("−"))}  # 0.000 is rounded
        assert side is None or ends == {side}


def test_table_marks_the_best_and_what_holds() -> None:
    shown = annotations.annotation_table(study(table()))
    rows = {(row[1], row[4], row[5], row[6]): row[7:] for row in shown.rows if row[3] == "utility"}
    assert rows["5", "Kendall’s τ", "erag", "precision"] == ["0.60 [0.50, 0.70] ★", "0.10 [0.00, 0.20]"]
    assert rows["5", "Kendall’s τ", "qrels", "precision"] == ["0.20 [0.10, 0.30]", "0.30 [0.20, 0.40] •"]
    assert rows["2", "Pearson’s r", "erag", "nDCG"][1] == "–"
    assert [column.chosen for column in shown.columns[:5]] == ["lm", "5", "lenient", "utility", "Kendall’s τ"]


@pytest.mark.parametrize("values", [table(), table().with_columns(value=pl.lit(None, pl.Float64))])
def test_figure_is_drawn_even_without_any_correlation(values: pl.DataFrame, tmp_path: Path) -> None:
    spec = annotations.correlation_by_depth(study(values), "paper")
    draw(spec, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 500


def test_page_has_the_part_with_names_escaped(tmp_path: Path) -> None:
    hostile = "<img src=x>"
    part = {"dataset": "demo", "generator": "lm", "scorer": "minilm", "references": "lenient", "people": "people"}
    low = {**part, "source": "qrels", "judge": True, "quantity": "kappa", "value": 0.1, "low": 0.0, "high": 0.2}
    told = pl.DataFrame([low], schema=schema_of(TABLES["annotation_agreement"]))
    for name, frame in study(table(hostile), annotation_agreement=told).tables.items():
        write_csv(frame, tmp_path / f"{name}_minilm.csv")
    write_csv(cost(), tmp_path / "cost.csv")
    files = {name: KeyedFiles(f"{name}_{{scorer}}.csv", (tmp_path / f"{name}_minilm.csv",)) for name in TABLES}
    trust = {"least_kappa": 0.4, "random_sample": False, "own": {hostile: ["lm"]}}
    read = read_annotations(files, [tmp_path / "cost.csv"], trust)
    whole = read_study(**write_study(tmp_path / "study"))
    link = '<a href="#annotations">Labels</a>'
    assert link not in render_page(whole)
    page = render_page(replace(whole, parts=[AnnexPart(read, Labels().page_part, Labels.template, Labels.link)]))
    assert link in page
    assert "1,234" in page and "annotations1-annotations" in page
    warning = "demo: results based on labels from qrels depend on a judge"
    first, section = page.index(warning), page.index('id="annotations"')
    assert first < section < page.rindex(warning), "on the first screen, and where it is shown"
    opening = "demo: agreement with human labels (people), measured by Cohen’s κ, is 0.10 [0.00, 0.20] for qrels."
    assert page.index(opening) < page.index('<div class="lead"'), "the page of a study with judges opens with it"
    assert page.rindex(opening) > section, "and so does the part on labels"
    assert "Agreement with human labels" in page and "annotations1-annotation_agreement" in page
    assert "annotation_powered-table" not in page
    assert "&lt;img src=x&gt;" in page and hostile not in page


def test_a_source_keeps_the_measure_that_is_best_at_the_largest_k() -> None:
    rows = table().with_columns(
        # At k = 2 another measure is ahead.
        pl.when(pl.col("k") == 2, source="erag", measure="nDCG").then(0.99).otherwise("value").alias("value")
    )
    best = paper_figures.best_measures(study(rows)).filter(quantity="p", coefficient="kendall")
    assert best.filter(retriever="bm25").select("k", "source", "measure", "value").rows() == [
        (2, "erag", "P", 0.6), (2, "qrels", "nDCG", 0.55), (5, "erag", "P", 0.6), (5, "qrels", "nDCG", 0.55),
    ]  # fmt: skip
    assert set(best["chosen_at"]) == {5}
    drawn = paper_figures.best_by_k(study(rows), "paper")["data"]["values"]
    assert {(row["panel"], row["retriever"], row["of"], row["value"]) for row in drawn if row["k"] == 2} == {
        ("demo · bm25 · lm", "erag", "precision", 0.6), ("demo · bm25 · lm", "qrels", "nDCG", 0.55),
        ("demo · dense · lm", "erag", "precision", 0.1), ("demo · dense · lm", "qrels", "precision", 0.3),
    }  # fmt: skip


def test_readers_are_lines_of_one_panel() -> None:
    other = table().with_columns(generator=pl.lit("large"), value=pl.col("value") + 0.05)
    both = study(pl.concat([table(), other]))
    drawn = paper_figures.readers_by_k(both, "paper")["data"]["values"]
    assert {(row["panel"], row["retriever"]) for row in drawn} == {
        (f"demo · {retriever} · erag", name) for retriever in ("bm25", "dense") for name in ("lm", "large")
    }
    assert {row["value"] for row in drawn if row["panel"] == "demo · bm25 · erag"} == {0.6, 0.65}
    alone = study(table())
    assert not paper_figures.readers_by_k(alone, "page")["data"]["values"], "on the page it is in the figure before"
    assert paper_figures.readers_by_k(alone, "paper")["data"]["values"]
