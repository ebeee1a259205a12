"""Coupling with P_0: partial correlations against regressions, thirds by hand."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.bootstrap import fisher_jackknife
from ragrelay.analysis.coupling import couplings
from scipy import stats


def tables(p: np.ndarray, p0: np.ndarray, measure: np.ndarray) -> tuple[pl.DataFrame, pl.DataFrame]:
    qids = [f"q{place:02d}" for place in range(len(p))]
    cell = {"retriever": "bm25", "ordering": "descending", "k": 2, "references": "lenient"}
    utility = pl.DataFrame({"qid": qids, "p": p, "p0": p0, "utility": (p - p0) / p0})
    return utility.with_columns(**{name: pl.lit(value) for name, value in cell.items()}), pl.DataFrame(
        {"qid": qids, "measure": "nDCG", "k": 2, "value": measure}
    )


def drawn(n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    p0 = random.uniform(0.2, 0.8, n)
    return 0.3 + 0.5 * p0 + random.normal(0, 0.1, n), p0, 0.4 * p0 + random.normal(0, 0.2, n)


def residuals(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return y - np.polyval(np.polyfit(z, y, 1), z)


def test_partial_correlations_are_those_of_residuals_on_p0() -> None:
    p, p0, measure = drawn()
    row = couplings(*tables(p, p0, measure)).row(0, named=True)
    assert row["r_p0_utility"] == pytest.approx(stats.pearsonr(p0, (p - p0) / p0).statistic)
    assert row["partial_r"] == pytest.approx(stats.pearsonr(residuals(measure, p0), residuals(p, p0)).statistic)
    ranks = [stats.rankdata(column) for column in (measure, p, p0)]
    expected = stats.pearsonr(residuals(ranks[0], ranks[2]), residuals(ranks[1], ranks[2])).statistic
    assert row["partial_rho"] == pytest.approx(expected)
    for name in ("r_p0_utility", "partial_r", "partial_rho"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    assert row["n"] == 40


def test_utility_by_thirds_of_p0() -> None:
    p0 = np.array([0.1, 0.7, 0.2, 0.6, 0.3, 0.5, 0.4])
    p = p0 * (1 + np.arange(7))
    row = couplings(*tables(p, p0, np.linspace(0, 1, 7))).row(0, named=True)
    assert row["utility_low_p0"] == pytest.approx((0 + 2 + 4) / 3)
    assert (row["utility_middle_p0"], row["utility_high_p0"]) == pytest.approx(((6 + 5) / 2, (3 + 1) / 2))


def test_what_has_no_coupling_says_why() -> None:
    p, p0, measure = drawn()
    assert couplings(*tables(p[:4], p0[:4], measure[:4]))["reason"].to_list() == ["fewer than 5 queries"]
    flat = couplings(*tables(p, p0, np.ones(40))).row(0, named=True)
    assert (flat["reason"], flat["partial_r"]) == ("the measure is constant", None)
    assert flat["r_p0_utility"] == couplings(*tables(p, p0, measure))["r_p0_utility"].item()
    assert couplings(*tables(2 * p0, p0, measure))["reason"].to_list() == ["utility is constant"]


@pytest.mark.simulation
def test_interval_and_test_by_the_jackknife_agree_on_zero() -> None:
    random, found = np.random.default_rng(1), []
    for _ in range(200):
        x, y = random.standard_normal((2, 12))
        r = stats.pearsonr(x, y).statistic
        left_out = [stats.pearsonr(np.delete(x, i), np.delete(y, i)).statistic for i in range(12)]
        low, high, p_value = fisher_jackknife(float(r), np.array(left_out))
        found.append(p_value < 0.05)
        assert (p_value < 0.05) == (not low <= 0 <= high)
    assert 0 < sum(found) < 40
