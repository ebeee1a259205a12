"""Studentised permutation tests: against plain loops, and their level where columns depend without correlating."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.correlation import PERMUTED_AT_MOST, detectable_rho, permutation_p, transmission, with_adjusted
from ragrelay.analysis.verdicts import ABOVE, BELOW, UNDECIDED
from scipy import stats


def pair(n: int, slope: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([seed, n])
    x = np.exp(random.standard_normal(n))
    return x, slope * x + random.standard_normal(n)


def slowly(x: np.ndarray, y: np.ndarray, permutations: int, seed: int) -> float:
    """Return the p-value by DiCiccio and Romano's formula, one permutation at a time."""

    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        x, y = x - x.mean(), y - y.mean()
        r = np.mean(x * y) / np.sqrt(np.mean(x**2) * np.mean(y**2))
        tau = np.sqrt(np.mean(x**2 * y**2) / (np.mean(x**2) * np.mean(y**2)))
        return abs(np.sqrt(len(x)) * r / tau)

    random, observed = np.random.default_rng([seed, len(x)]), statistic(x, y)
    extreme = sum(statistic(x, y[random.permutation(len(x))]) >= observed * (1 - 1e-12) for _ in range(permutations))
    return (extreme + 1) / (permutations + 1)


@pytest.mark.parametrize("n", [12, 43])
def test_p_values_equal_plain_loops(n: int) -> None:
    pairs = [pair(n, slope, seed) for seed, slope in enumerate((0.0, 0.3, -0.5))]
    assert permutation_p("pearson", pairs, 300, 7) == pytest.approx([slowly(*one, 300, 7) for one in pairs])
    ranks = [(stats.rankdata(x), stats.rankdata(y)) for x, y in pairs]
    assert permutation_p("spearman", pairs, 300, 7) == pytest.approx([slowly(*one, 300, 7) for one in ranks])


def test_pairs_of_one_measure_have_the_p_values_that_each_has_alone() -> None:
    (x, y), (z, other) = pair(43, 0.2, 1), pair(43, 0.1, 2)
    pairs = [(x, y), (z, other), (z, y), (np.exp(z), y)]
    alone = [permutation_p("pearson", [one], 1200, 3)[0] for one in pairs]
    assert list(permutation_p("pearson", pairs, 1200, 3)) == alone


def test_large_samples_agree_with_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [pair(PERMUTED_AT_MOST + 1, slope) for slope in (0.0, 0.05, 0.1)]
    by_formula = permutation_p("spearman", pairs, 3000, 0)
    monkeypatch.setattr("ragrelay.analysis.correlation.PERMUTED_AT_MOST", 10_000)
    assert by_formula == pytest.approx(permutation_p("spearman", pairs, 3000, 0), abs=0.03)


def rate(called: np.ndarray) -> tuple[float, float]:
    return float(called.mean()), float(np.sqrt(0.05 * 0.95 / len(called)))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_uncorrelated_columns_are_called_no_more_often_than_promised_where_r_itself_would_be(coefficient: str) -> None:
    # y varies more where x is far from its middle: no correlation, and no independence.
    random = np.random.default_rng(0)
    x = random.standard_normal((4000, 43))
    y = random.standard_normal((4000, 43)) * np.abs(x)
    share, error = rate(permutation_p(coefficient, list(zip(x, y, strict=True)), 199, 0) <= 0.05)
    assert share < 0.06 + error
    assert share > 0.03
    assert rate(stats.pearsonr(x, y, axis=1).pvalue < 0.05)[0] > 0.2


def rows(x: np.ndarray, y: np.ndarray) -> pl.DataFrame:
    qids = [f"q{place:02d}" for place in range(len(x))]
    cell = {"retriever": "bm25", "ordering": "descending", "k": 2, "references": "lenient", "p0": 0.5}
    utility = pl.DataFrame({"qid": qids, "utility": x}).with_columns(**{n: pl.lit(v) for n, v in cell.items()})
    return transmission(utility, pl.DataFrame({"qid": qids, "measure": "nDCG", "k": 2, "value": y}), 500, 0)


@pytest.mark.parametrize(("slope", "word"), [(1.0, ABOVE), (-1.0, BELOW), (0.0, UNDECIDED)])
def test_only_rho_has_a_verdict_which_test_and_interval_share(slope: float, word: str) -> None:
    table = with_adjusted(rows(*pair(40, slope)))
    verdicts = dict(table.filter(subset="all").select("coefficient", "verdict").rows())
    assert verdicts == {"pearson": None, "spearman": word, "kendall": None}
    rho = table.filter(subset="all", coefficient="spearman").row(0, named=True)
    assert (rho["p_permutation"] < 0.05) == (word != UNDECIDED)
    assert rho["p_permutation_holm"] == rho["p_permutation"]
    assert table.filter(coefficient="kendall")["p_permutation"].is_null().all()


@pytest.mark.simulation
@pytest.mark.parametrize("n", [12, 36, 100])
def test_verdicts_find_the_detectable_rho_four_times_of_five(n: int) -> None:
    """The test and the interval are those of the verdict; benchmarks/verdict_power.py has more draws."""
    from benchmarks.verdict_power import found

    rho = detectable_rho(n)
    assert rho is not None
    assert found(1000, n, rho) == pytest.approx(0.8, abs=0.04)


def test_no_rho_is_detectable_with_few_queries_and_a_small_one_with_many() -> None:
    assert detectable_rho(9) is None
    many = detectable_rho(10_000)
    assert many == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / np.sqrt(10_000), rel=0.002)
