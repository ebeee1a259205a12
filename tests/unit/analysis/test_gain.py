"""Gain: the verdict's test against scipy, simulation and by hand; flags; families."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import gain
from ragrelay.analysis.mean_tests import Means, ratio_interval
from ragrelay.analysis.verdicts import BETTER, TOO_FEW, UNDECIDED, WORSE
from scipy import stats

from tests.unit.report.second_way import undone


def table(p: np.ndarray, p0: np.ndarray, retriever: str = "bm25", k: int = 1) -> pl.DataFrame:
    """A utility table of one cell, queries q00, q01, ..."""
    return pl.DataFrame(
        {
            "retriever": retriever,
            "ordering": "descending",
            "k": k,
            "references": "lenient",
            "qid": [f"q{place:02d}" for place in range(len(p))],
            "p": p,
            "p0": p0,
            "utility": (p - p0) / p0,
        }
    ).with_columns(pl.col("p", "p0", "utility").fill_nan(None))


def pairs(n: int = 20, shift: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([seed, n])
    p0 = random.uniform(0.3, 0.6, n)
    return p0 + shift + random.gamma(1.0, 0.1, n) - 0.1, p0


def one(p: np.ndarray, p0: np.ndarray) -> dict:
    return gain.gains(table(p, p0), 999, 0).row(0, named=True)


def test_a_row_holds_scipys_t_and_an_interval_that_is_the_verdicts_test_inverted() -> None:
    p, p0 = pairs()
    row, expected = one(p, p0), stats.ttest_rel(p, p0)
    assert (row["t"], row["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert row["d_z"] == pytest.approx(expected.statistic / np.sqrt(20))
    assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(p - p0).pvalue)
    assert row["mean_difference"] == pytest.approx((p - p0).mean())
    means = Means.cautious((p - p0)[:, None])
    for end in ("low", "high"):
        assert means.p_value(row[end])[0] == pytest.approx(0.05, abs=1e-9)
    assert row["p_hall"] == pytest.approx(Means.of((p - p0)[:, None]).p_hall()[0])
    assert row["p_verdict"] == pytest.approx(max(row["p_value"], means.p_hall()[0]))
    assert row["low"] <= expected.confidence_interval().low
    assert row["high"] >= expected.confidence_interval().high


def test_the_interval_is_not_that_of_the_t_test_as_its_columns_say() -> None:
    """On skewed gains Student's p is below .05 although the interval includes 0; p_verdict is not."""
    gains, p0 = 0.1 * (np.exp(np.random.default_rng(58).normal(size=20)) - 1.0), np.full(20, 0.5)
    row = one(p0 + gains, p0)
    assert row["p_value"] < 0.05 < row["p_verdict"] and row["low"] < 0 < row["high"] and row["verdict"] == UNDECIDED
    about = {name: gain.COLUMNS[name].about for name in ("low", "p_value", "p_verdict")}
    assert (
        about["low"].endswith("from the same test as `p_verdict`") and "verdict and the interval" in about["p_verdict"]
    )
    assert about["p_value"].endswith("the interval corresponds to `p_verdict`, not to this p-value")


def test_the_verdict_is_the_sign_of_a_decided_mean_difference() -> None:
    p, p0 = pairs()
    assert one(p, p0)["verdict"] == BETTER
    assert one(p0, p)["verdict"] == WORSE
    assert one(p, p0)["stands"] is one(p0, p)["stands"] is not undone(p - p0, BETTER)
    nothing = one(*pairs(shift=0.0, seed=3))
    assert (nothing["verdict"], nothing["stands"]) == (UNDECIDED, None)
    assert nothing["low"] < 0 < nothing["high"]


def test_worse_contexts_are_never_better_by_their_mean_utility() -> None:
    # Many queries lose a tenth; one whose P_0 is 0.001 gains a little: U = +40.
    p0 = np.array([0.5] * 29 + [0.001]) + np.linspace(0, 0.01, 30)[::-1]
    p = p0 - np.linspace(0.08, 0.12, 30)
    p[-1] = 0.041
    row = one(p, p0)
    assert row["mean_utility"] > 1 > 0 > row["mean_difference"]
    assert (row["verdict"], row["stands"]) == (WORSE, True)
    assert row["utility_disagrees"]
    assert row["largest_qid"] == "q29"
    assert row["largest_share"] > 0.8
    assert row["median_utility"] < 0


def test_no_query_is_named_where_none_stands_out() -> None:
    row = one(*pairs(n=40, seed=1))
    assert row["largest_share"] < 0.2
    assert row["largest_qid"] is None
    assert not row["utility_disagrees"]


def test_the_means_are_over_the_same_queries() -> None:
    p, p0 = pairs()
    p[3], p0[5] = np.nan, np.nan
    row, both = one(p, p0), np.isfinite(p) & np.isfinite(p0)
    assert (row["n"], row["n_unpaired"]) == (18, 2)
    assert (row["mean_p"], row["mean_p0"]) == pytest.approx((p[both].mean(), p0[both].mean()))
    assert row["mean_p"] - row["mean_p0"] == pytest.approx(row["mean_difference"])


@pytest.mark.parametrize(
    ("n", "reason"), [(4, "fewer than 5 queries"), (1, "fewer than 5 queries"), (0, "no query has both P and P₀")]
)
def test_few_queries_decide_nothing(n: int, reason: str) -> None:
    p, p0 = pairs(n=6, shift=0.3)
    p[n:] = np.nan
    row = one(p, p0)
    assert (row["verdict"], row["reason"], row["p_value"]) == (TOO_FEW, reason, None)
    assert row["n"] == n


def test_equal_differences_decide_nothing() -> None:
    p0 = np.linspace(0.3, 0.6, 10)
    row = one(p0.copy(), p0)
    assert (row["verdict"], row["reason"], row["mean_difference"]) == (
        TOO_FEW, "all differences are equal", 0.0,
    )  # fmt: skip


def test_the_ratio_of_means_has_fiellers_interval_where_nothing_is_skewed() -> None:
    random = np.random.default_rng(0)
    below = random.normal(0.5, 0.1, 2000)
    above = 1.2 * below + random.normal(0, 0.1, 2000)
    low, high = ratio_interval(above, below)
    # Fieller's closed form: |mean(a) - r mean(b)| = t * sqrt(var(a) - 2 r cov + r^2 var(b)) / sqrt(n).
    t2 = stats.t.ppf(0.975, 1999) ** 2 / 2000
    cov = np.cov(above, below)
    a, b = above.mean(), below.mean()
    roots = np.roots([b**2 - t2 * cov[1, 1], -2 * (a * b - t2 * cov[0, 1]), a**2 - t2 * cov[0, 0]])
    assert (low, high) == pytest.approx((roots.min(), roots.max()), abs=2e-4)


def test_a_ratio_of_means_without_bounds_has_no_interval() -> None:
    random = np.random.default_rng(0)
    assert ratio_interval(random.normal(1, 0.1, 10), random.normal(0.01, 1, 10)) is None


@pytest.mark.parametrize("n", [6, 8, 12, 36])
def test_a_ratio_at_which_nothing_varies_is_rejected(n: int) -> None:
    """All answers are right: 1 - ratio x P_0 has mean 0 where P_0 has the mean 1 / ratio, so both intervals agree."""
    for value in (1.0, 0.7):
        for right in range(1, n):
            p0 = np.zeros(n)
            p0[:right] = 1.0
            (low,), (high,) = Means.of(p0[:, None]).interval()
            found = ratio_interval(np.full(n, value), p0)
            if low > 1e-3:
                assert found == pytest.approx((value / high, value / low))
            elif low < 0:
                assert found is None


@pytest.mark.parametrize("ratio", [0.5, 1 / 3, 2.0, 3.0, -1.0])
def test_the_interval_of_a_perfect_ratio_is_that_ratio(ratio: float) -> None:
    below = np.random.default_rng(0).uniform(0.2, 0.8, 12)
    assert ratio_interval(ratio * below, below, skewness=1.75) == pytest.approx((ratio, ratio), abs=1e-9)


def test_all_answers_right_with_passages() -> None:
    row = one(np.ones(8), np.array([1.0, 1.0, 0, 0, 0, 0, 0, 0]) + 0.0)
    assert (row["mean_p"], row["mean_difference"], row["verdict"]) == (1.0, 0.75, TOO_FEW)
    assert row["ratio_of_means"] == 3.0


def test_the_interval_leaves_out_0_where_a_verdict_falls() -> None:
    verdicts = set()
    for seed in range(60):
        row = one(*pairs(n=12, shift=0.06, seed=seed))
        verdicts.add(row["verdict"])
        assert (row["low"] > 0) == (row["verdict"] == BETTER)
    assert verdicts == {BETTER, UNDECIDED}


def test_adjusted_p_values_are_of_the_verdicts_test() -> None:
    cells = pl.concat([gain.gains(table(*pairs(shift=0.05, seed=s), k=s + 1), 99, 0) for s in range(4)])
    adjusted = gain.with_adjusted(cells)
    assert adjusted["family_size"].to_list() == [4] * 4
    assert adjusted["p_holm"].min() == pytest.approx(4 * cells["p_verdict"].min())


def skewed_differences(random: np.random.Generator, draws: int, n: int) -> np.ndarray:
    """Log-normal differences with mean 0, (n, draws): the worst of the simulation behind docs/error-rates.md."""
    return np.exp(random.standard_normal((n, draws))) - np.exp(0.5)


@pytest.mark.parametrize("n", [43, 54])
def test_the_verdict_keeps_its_level_where_t_does_not(n: int) -> None:
    draws, random = 4000, np.random.default_rng(n)
    error = np.sqrt(0.05 * 0.95 / draws)
    normal = Means.of(random.standard_normal((n, draws))).p_value() < 0.05
    skewed = skewed_differences(random, draws, n)
    assert normal.mean() < 0.05 + 2 * error
    assert normal.mean() > 0.03
    assert (Means.of(skewed).p_value() < 0.05).mean() < 0.06 + error
    assert (stats.ttest_1samp(skewed, 0.0).pvalue < 0.05).mean() > 0.08
