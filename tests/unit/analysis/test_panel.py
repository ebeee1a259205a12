"""Results without each judge, and how well judges agree, against numbers worked out by hand."""

import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.panel import AGREEMENT_SCHEMA, SCHEMA, compare_judges, judge_agreement
from ragrelay.analysis.systems import PRIMARY
from ragrelay.base.vocabulary.primary import Primary

CELL = {"ordering": "descending", "k": 3, "references": "lenient"}
PAIR = Primary(retriever="dense", reference="bm25", measure="nDCG", scorer="panel", **CELL)  # type: ignore[arg-type]
JUDGES = ["a", "b", "c"]


def systems(difference: float, verdict: str = "better") -> pl.DataFrame:
    row = {"role": PRIMARY, "n": 36, "mean_difference": difference, "low": difference - 0.1, "high": difference + 0.1,
           "verdict": verdict, "reason": None}  # fmt: skip
    return pl.DataFrame([row, row | {"role": "exploratory", "mean_difference": 9.0}], infer_schema_length=None)


def slopes(slope: float) -> pl.DataFrame:
    rows = [
        {"retrievers": relay.ALL_RANKINGS, "measure": "nDCG", **CELL, "k": k, "adjusted": adjusted, "n": 30,
         "slope": slope + adjusted + k, "low": None, "high": None, "verdict": "undecided", "reason": "why"}
        for k in (1, 3) for adjusted in (False, True)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def by_part(tables: list[pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables of the panel, then without each judge; in another order, which must not count."""
    names = ["panel", *(f"panel@without-{judge}" for judge in JUDGES)]
    return dict(reversed(list(zip(names, tables, strict=True))))


def test_a_judges_own_estimate_follows_from_the_others() -> None:
    """Differences of .1, .2 and .6 by the judges alone: their mean .3, without each .4, .35 and .15."""
    given = [systems(0.3, "undecided"), systems(0.4), systems(0.35), systems(0.15, "undecided")]
    made = compare_judges(by_part(given), by_part([slopes(s) for s in (0.3, 0.4, 0.35, 0.15)]), JUDGES, PAIR)
    assert made.schema == SCHEMA
    pair = made.filter(question="systems")
    assert pair["without"].to_list() == [None, *JUDGES]
    assert pair["alone"].to_list()[1:] == pytest.approx([0.1, 0.2, 0.6]) and pair["alone"][0] is None
    assert pair["verdict"].to_list() == ["undecided", "better", "better", "undecided"]
    measured, adjusted = (made.filter(question="relay", adjusted=is_adjusted) for is_adjusted in (False, True))
    assert measured["estimate"].to_list() == pytest.approx([3.3, 3.4, 3.35, 3.15]), "at the primary comparison's k"
    assert measured["alone"].to_list()[1:] == pytest.approx([3.1, 3.2, 3.6])
    assert adjusted["alone"].null_count() == 4 and adjusted["reason"].to_list() == ["why"] * 4
    empty = compare_judges(by_part([systems(0.1).clear()] * 4), by_part([slopes(0.1).clear()] * 4), JUDGES, PAIR)
    assert empty.is_empty() and empty.schema == SCHEMA


def scores(*f1: float) -> pl.DataFrame:
    """Two answers to each query, by k; then rows that do not count: another reference set, a baseline."""
    rows = [
        {"retriever": "bm25", "qid": f"q{place // 2}", "ordering": "descending", "k": place % 2 + 1, "seed": 1,
         "references": "lenient", "f1": value}
        for place, value in enumerate(f1)
    ]  # fmt: skip
    rows += [rows[0] | {"references": "strict", "f1": 0.9}, rows[0] | {"ordering": "none", "k": 3, "f1": 0.9}]
    return pl.DataFrame(rows)


def test_kappa_of_two_judges_by_hand() -> None:
    """Of 12 answers 5 yes by both, 4 no by both, 2 and 1 apart: agreement .75, by chance .5, so kappa .5."""
    one = [0.9] * 7 + [0.1] * 5
    other = [0.5] * 5 + [0.4, 0.2] + [0.6] + [0.3] * 4
    made = judge_agreement({"a": scores(*one), "b": scores(*other)}, "lenient")
    row = made.row(0, named=True)
    assert made.schema == AGREEMENT_SCHEMA and (row["judge"], row["other_judge"]) == ("a", "b")
    yes, others = 7 / 12, 6 / 12
    chance = yes * others + (1 - yes) * (1 - others)
    assert row["kappa"] == pytest.approx((9 / 12 - chance) / (1 - chance)) == pytest.approx(0.5)
    assert (row["n"], row["n_queries"]) == (12, 6) and row["low"] < 0.5 < row["high"]
    assert row["mean"] == pytest.approx(sum(one) / 12) and row["other_mean"] == pytest.approx(sum(other) / 12)
    clustered = judge_agreement(
        {"a": scores(*one), "b": scores(*other)}, "lenient", {f"q{n}": n // 2 for n in range(6)}
    ).row(0, named=True)
    assert clustered["kappa"] == row["kappa"] and clustered["low"] is None, "three clusters are too few"


def test_judges_without_a_kappa_say_why() -> None:
    same = scores(*[0.9] * 12)
    made = judge_agreement({"a": same, "b": same, "c": same.clear()}, "lenient")
    reasons = dict(made.select(pl.concat_str("judge", "other_judge"), "reason").iter_rows())
    assert reasons == {
        "ab": "both judges say the same word about every answer",
        "ac": "no answer has a score from both judges",
        "bc": "no answer has a score from both judges",
    }
    assert made["kappa"].null_count() == 3 and made["rho"].null_count() == 3
