"""Intervals of mean differences end where the scale of the scores does, from 0 to 1, and of other scores nowhere."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.gain import gains
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.scale import scaled
from ragrelay.analysis.significance import comparisons
from ragrelay.analysis.systems import systems
from ragrelay.report.facts import interval_of

N = 5
ENDS = ("low", "high", "verdict_low", "verdict_high")
Tests = Callable[[pl.DataFrame], pl.DataFrame]


def utility(factor: float = 1.0) -> pl.DataFrame:
    """P of two retrievers for five queries, one far from the others; the scale ends at ``factor``."""
    p = {"bm25": np.array([0.02, 0.1, 0.0, 0.03, 0.9]), "dense": np.array([0.9, 1.0 + 1e-7, 0.95, 0.98, 0.1])}
    frames = [
        pl.DataFrame({"qid": [f"q{place}" for place in range(N)], "p": factor * values}).with_columns(
            retriever=pl.lit(name), ordering=pl.lit("descending"), k=pl.lit(1, pl.Int64), references=pl.lit("lenient"),
            p0=pl.lit(0.05 * factor) * (pl.int_range(pl.len()) + 1), utility=pl.col("p") * 3,
        )
        for name, values in p.items()
    ]  # fmt: skip
    return pl.concat(frames)


def of_significance(table: pl.DataFrame) -> pl.DataFrame:
    sides = [table.filter(retriever=name) for name in ("dense", "bm25")]
    return comparisons(*sides, permutations=99)


TESTS: dict[str, Tests] = {
    "gain": lambda table: gains(table, 99, 0),
    "systems": lambda table: systems(table, ["bm25", "dense"], "bm25", None, 0.02),
    "equivalence": lambda table: equivalences(table, "bm25", 0.02),
    "significance": of_significance,
}


def ends_of(table: pl.DataFrame) -> np.ndarray:
    return table.select(name for name in ENDS if name in table.columns).drop_nulls().to_numpy()


@pytest.mark.parametrize("name", TESTS)
def test_intervals_of_scores_from_0_to_1_end_at_1_and_those_of_another_scale_do_not(name: str) -> None:
    """Nothing else changes: ten times the scores have ten times the interval, which is the uncut one."""
    found, tenfold = (TESTS[name](utility(factor)) for factor in (1.0, 10.0))
    if name == "significance":
        assert found.filter(quantity="utility")["high"].max() > 1.0, "utility has no such scale"  # type: ignore[operator]
        found, tenfold = (table.filter(quantity="p") for table in (found, tenfold))
    uncut = ends_of(tenfold) / 10
    assert np.abs(uncut).max() > 1.0
    assert ends_of(found) == pytest.approx(np.clip(uncut, -1.0, 1.0))
    same = [column for column in ("verdict", "p_verdict", "p_value", "n", "remark") if column in found.columns]
    for column in same:
        values = [table[column].to_list() for table in (found, tenfold)]
        if not (name == "equivalence" and column == "p_value"):  # of a margin, which is not ten times as wide
            assert values[0] == (pytest.approx(values[1]) if column.startswith("p_") else values[1]), column


def test_an_interval_within_the_scale_is_the_tests_to_the_last_bit() -> None:
    random = np.random.default_rng(1)
    one, other = random.uniform(0.3, 0.6, (2, 40))
    qids = [f"q{place:02}" for place in range(40)]
    table = utility().head(1).drop("qid", "p", "p0").join(
        pl.DataFrame({"qid": qids, "p": one, "p0": other}), how="cross")  # fmt: skip
    row = gains(table, 99, 0).row(0, named=True)
    (low,), (high,) = Means.cautious((one - other)[:, None]).interval()
    assert (row["low"], row["high"]) == (low, high)


def test_a_scale_is_known_from_all_scores_and_a_missing_score_says_nothing() -> None:
    table = pl.DataFrame({"p": [0.0, 1.0 + 1e-7, None], "p0": [None, None, 0.5]})
    assert scaled(table, "p", "p0")
    for beyond in (1.01, -0.2, 5.0, float("nan"), float("inf")):
        assert not scaled(table.with_columns(p0=pl.lit(beyond)), "p", "p0")


@pytest.mark.parametrize("factor", [1.0, 10.0])
def test_the_interval_of_a_mean_in_the_figure_ends_there_too(factor: float) -> None:
    low, high = interval_of(factor * np.array([1.0, 1.0, 0.9, 1.0, 0.2]))
    assert low is not None and high is not None and low > 0.0
    assert (high == 1.0) if factor == 1.0 else (high > factor)
    assert interval_of(factor * np.array([0.0, 0.0, 0.0, 0.0, 0.4]))[0] == (
        0.0 if factor == 1.0 else pytest.approx(-10 * 0.14212, abs=1e-3)
    )
