"""What contexts that labels choose are worth against any: by hand, with ties, the null, and unseen references."""

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.labels.choices import label_choices, with_adjusted
from scipy import stats

from tests.unit.report.second_way import undone

KINDS = {"a": "bm25", "b": "dense", "c": "oracle"}
# Labels of the contexts of a, b and c, their P, and what the choice by these labels is worth.
QUERIES = [
    ((0.1, 0.9, 0.2), (0.2, 0.5, 0.2), 0.5, 0.3),
    ((0.9, 0.9, 0.1), (0.6, 0.2, 0.1), 0.4, 0.3),  # two tie: either
    ((0.5, 0.5, 0.5), (0.6, 0.3, 0.0), 0.3, 0.3),  # all tie: any
    ((0.3, 0.1, 0.2), (0.8, 0.2, 0.2), 0.8, 0.4),
    ((0.1, None, 0.4), (0.1, 0.9, 0.5), 0.5, 0.3),  # b has no label
    ((0.1, 0.2, 0.3), (0.0, 0.3, 0.6), 0.6, 0.3),
    ((None, 0.4, None), (0.1, 0.9, 0.5), None, None),  # one context: nothing to choose from
]


def tables(references: str = "lenient") -> tuple[pl.DataFrame, pl.DataFrame]:
    values, ends = [], []
    for number, (labels, scores, *_) in enumerate(QUERIES):
        for retriever, label, p in zip(KINDS, labels, scores, strict=True):
            cell = {"retriever": retriever, "k": 2, "references": references, "qid": f"q{number}"}
            for source, value in (("erag", label), ("p0", 0.5 if retriever == "a" else 0.25)):
                values.append(cell | {"source": source, "measure": "P", "value": value, "n_ranked": 2})
            values.append(cell | {"source": "erag", "measure": "AP", "value": None, "n_ranked": 2})
            ends.append(cell | {"ordering": "descending", "p": p, "p0": 0.1 * number, "utility": 2 * p})
            # Neither other orderings nor zero-shot answers are chosen from.
            ends.append(cell | {"ordering": "ascending", "p": 9.0, "p0": 0.0, "utility": 9.0})
            ends.append(cell | {"retriever": "zeroshot", "ordering": "descending", "p": 9.0, "p0": 0.0, "utility": 9.0})
    return tuple(pl.DataFrame(rows, infer_schema_length=None) for rows in (values, ends))  # type: ignore[return-value]


def row(frame: pl.DataFrame, **where: object) -> dict:
    return frame.filter(retrievers="all", **where).row(0, named=True)


def test_by_hand() -> None:
    table = label_choices(*tables(), KINDS, ["p0"])
    chosen, of_all = (np.array([query[at] for query in QUERIES[:-1]]) for at in (2, 3))
    found = row(table, source="erag", measure="P", quantity="p")
    assert (found["n"], found["n_tied"], found["n_retrievers"]) == (6, 1, 3)
    assert found["mean_chosen"] == pytest.approx(chosen.mean())
    assert found["mean_any"] == pytest.approx(of_all.mean())
    assert found["mean_difference"] == pytest.approx(1.2 / 6)
    assert found["low"] < 0.2 < found["high"]
    # The test of a gain: Hall's p is the larger one where it is not Student's.
    assert stats.ttest_rel(chosen, of_all).pvalue - 1e-12 <= found["p_value"]
    assert found["verdict"] == "too few queries"
    utility = row(table, source="erag", measure="P", quantity="utility")
    assert (utility["mean_difference"], utility["verdict"], utility["stands"]) == (pytest.approx(0.4), None, None)
    assert row(table, source="erag", measure="AP", quantity="p")["reason"] == "AP is not defined for these labels"


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_an_interval_of_scores_from_0_to_1_ends_at_1_but_not_on_unseen_references(scale: float) -> None:
    """There, P less P₀ of a context is compared with that of another: from −2 to 2."""
    best = [1.0, 0.95, 1.0, 0.9, 0.0]
    rows = [(name, 2, references, f"q{at}", scale * abs(p - (name != "a")), 0.1 * at, float(name == "a"))
            for references in ("lenient", "lenient-unseen") for at, p in enumerate(best) for name in KINDS]  # fmt: skip
    ends = pl.DataFrame(rows, ["retriever", "k", "references", "qid", "p", "utility", "value"], orient="row")
    ends = ends.with_columns(ordering=pl.lit("descending"), p0=pl.lit(0.0), n_ranked=pl.lit(2))
    values = ends.drop("p", "p0", "utility", "ordering").with_columns(source=pl.lit("erag"), measure=pl.lit("P"))
    low, uncut = label_choices(values, ends, KINDS, []).filter(quantity="p", retrievers="all")["low"]
    assert uncut < -scale and low == (-1.0 if scale == 1.0 else uncut)


def test_labels_turned_round_choose_worse() -> None:
    values, ends = tables()
    # Six queries have no word; their like three times over has.
    values, ends = (
        pl.concat([table.with_columns(qid=pl.format("{}{}", pl.lit(copy), "qid")) for copy in "abc"])
        for table in (values, ends)
    )
    straight = row(label_choices(values, ends, KINDS, []), source="erag", measure="P", quantity="p")
    assert (straight["n"], straight["verdict"]) == (18, "better")
    worth = np.array([query[2] - query[3] for query in QUERIES[:-1]] * 3)
    assert straight["stands"] is not undone(worth, "better")
    turned = label_choices(values.with_columns(value=-pl.col("value")), ends, KINDS, [])
    found = row(turned, source="erag", measure="P", quantity="p")
    assert found["mean_difference"] < 0
    assert found["verdict"] == "worse"


def test_the_null_chooses_any() -> None:
    """Its measure differs where a ranking is short; that is not knowledge of the passages."""
    found = row(label_choices(*tables(), KINDS, ["p0"]), source="p0", quantity="p")
    assert (found["n"], found["n_tied"], found["verdict"]) == (7, 7, "too few queries")
    assert (found["mean_chosen"], found["mean_difference"]) == (pytest.approx(found["mean_any"]), pytest.approx(0))
    assert found["reason"] == "all passages of a query have the same label"
    unlike = row(label_choices(*tables(), KINDS, []), source="p0", quantity="p")
    assert unlike["n_tied"] == 0, "what the measure alone would choose"


def test_on_unseen_references_p0_of_each_context_is_taken_off() -> None:
    values, ends = tables("lenient-unseen")
    own = ends.with_columns(p0=pl.when(retriever="b").then(0.3).otherwise(0.0))
    found = row(label_choices(values, own, KINDS, ["p0"]), source="erag", measure="P", quantity="p")
    # b is chosen of query 0, and one of two of query 1; it is one of three in all but query 4, where it has no label.
    lower = np.array([0.3, 0.15, 0.1, 0.0, 0.0, 0.0]) - np.array([0.1, 0.1, 0.1, 0.1, 0.0, 0.1])
    assert found["mean_difference"] == pytest.approx(0.2 - lower.mean())


def test_few_queries_decide_nothing_and_holm_goes_over_sources() -> None:
    values, ends = tables()
    few = values.filter(pl.col("qid").is_in(["q0", "q1", "q3", "q5"]))
    found = row(label_choices(few, ends, KINDS, ["p0"]), source="erag", measure="P", quantity="p")
    assert (found["verdict"], found["reason"]) == ("too few queries", "fewer than 5 queries with two contexts")
    both = pl.concat([values, values.filter(source="erag").with_columns(source=pl.lit("twin"))])
    adjusted = with_adjusted(label_choices(both, ends, KINDS, ["p0"]).with_columns(generator=pl.lit("lm")))
    found = row(adjusted, source="erag", measure="P", quantity="p")
    assert (found["family_size"], found["p_holm"]) == (2, pytest.approx(2 * found["p_value"]))
