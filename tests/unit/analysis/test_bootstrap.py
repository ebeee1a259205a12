"""Bootstrap and large-sample intervals against plain loops, scipy and simulated truth."""

import numpy as np
import pytest
from ragrelay.analysis import bootstrap, correlation
from ragrelay.analysis.bootstrap import STATISTICS, bca_interval, bootstrap_intervals, leave_one_out, resample_counts
from ragrelay.analysis.coefficients import concordances
from scipy import stats

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}
coefficients = pytest.mark.parametrize("coefficient", list(SCIPY))


def sample(n: int, seed: int, rho: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """A skewed column and one of few values, as utility and nDCG@1 are."""
    x, noise = np.random.default_rng(seed).standard_normal((2, n))
    y = rho * x + np.sqrt(1 - rho**2) * noise
    return np.exp(x), np.round(2 * y) / 2


@coefficients
def test_resamples_equal_a_plain_loop(coefficient: str) -> None:
    x, y = sample(20, 1)
    (counts,) = resample_counts(20, 200, seed=3)
    loop = [SCIPY[coefficient](np.repeat(x, times), np.repeat(y, times)) for times in counts.astype(int)]
    np.testing.assert_allclose(STATISTICS[coefficient](counts, x, y), loop, atol=1e-12)


def test_midranks_by_comparison_and_by_sorting_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = sample(30, 9)
    (counts,) = resample_counts(30, 200, seed=3)
    compared = STATISTICS["spearman"](counts, x, y)
    monkeypatch.setattr("ragrelay.analysis.coefficients.COMPARED_AT_MOST", 0)
    assert STATISTICS["spearman"](counts, x, y).tobytes() == compared.tobytes()


@coefficients
def test_jackknife_equals_a_plain_loop(coefficient: str) -> None:
    x, y = sample(15, 2)
    loop = [SCIPY[coefficient](np.delete(x, i), np.delete(y, i)) for i in range(15)]
    np.testing.assert_allclose(leave_one_out(coefficient, x, y), loop, atol=1e-12)


@coefficients
def test_interval_equals_scipys_bca_of_the_same_resamples(coefficient: str) -> None:
    x, y = sample(40, 3)
    tail = stats.norm.cdf(np.sqrt(40 / 39) * stats.t.ppf(0.025, 39))
    theirs = stats.bootstrap(
        (x, y), SCIPY[coefficient], paired=True, vectorized=False, n_resamples=1000, method="BCa",
        confidence_level=1 - 2 * tail, rng=np.random.default_rng(5),
    )  # fmt: skip
    ours = bca_interval(SCIPY[coefficient](x, y), theirs.bootstrap_distribution, leave_one_out(coefficient, x, y))
    assert ours.reason is None
    np.testing.assert_allclose([ours.low, ours.high], theirs.confidence_interval, atol=1e-9)


def test_levels_are_expanded_for_small_samples() -> None:
    draws = np.linspace(-0.5, 0.5, 100_001)
    symmetric = np.array([-0.1, 0.1] * 5)
    tail = stats.norm.cdf(np.sqrt(10 / 9) * stats.t.ppf(0.025, 9))
    low, high, _ = bca_interval(0.0, draws, symmetric)
    assert low == pytest.approx(-0.5 + tail, abs=1e-4)
    assert high == pytest.approx(0.5 - tail, abs=1e-4)


def test_counts_are_a_resample_each_and_prefixes_of_each_other() -> None:
    (many,) = resample_counts(12, 300, seed=1)
    assert many.shape == (300, 12)
    assert (many.sum(axis=1) == 12).all()
    np.testing.assert_array_equal(next(resample_counts(12, 100, seed=1)), many[:100])
    assert (next(resample_counts(12, 300, seed=2)) != many).any()


@coefficients
def test_chunks_do_not_change_the_interval(coefficient: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [sample(31, seed) for seed in range(3)]
    whole = bootstrap_intervals(coefficient, pairs, 500, seed=4)
    monkeypatch.setattr(bootstrap, "CHUNK", 31 * 70)
    chunked = bootstrap_intervals(coefficient, pairs, 500, seed=4)
    np.testing.assert_allclose([c[:2] for c in chunked], [w[:2] for w in whole], atol=1e-12)


def test_an_interval_does_not_depend_on_the_other_pairs() -> None:
    pairs = [sample(36, seed) for seed in range(4)]
    assert bootstrap_intervals("pearson", pairs, 400, seed=0)[2:3] == bootstrap_intervals(
        "pearson", pairs[2:3], 400, seed=0
    )


@pytest.mark.parametrize(("coefficient", "n"), [("pearson", 36), ("pearson", 43), ("spearman", 36), ("kendall", 36)])
@pytest.mark.simulation
def test_coverage_on_normal_data(coefficient: str, n: int) -> None:
    rho = 0.5
    truth = {"pearson": rho, "spearman": 6 / np.pi * np.arcsin(rho / 2), "kendall": 2 / np.pi * np.arcsin(rho)}
    generator = np.random.default_rng(7)
    datasets = []
    for _ in range(600):
        x, noise = generator.standard_normal((2, n))
        datasets.append((x, rho * x + np.sqrt(1 - rho**2) * noise))
    intervals = bootstrap_intervals(coefficient, datasets, 1000, seed=0)
    covered = [low <= truth[coefficient] <= high for low, high, _ in intervals]
    assert 0.93 <= np.mean(covered) <= 0.98


def test_skewed_data_gives_intervals_that_are_neither_empty_nor_everything() -> None:
    generator = np.random.default_rng(8)
    datasets = []
    for _ in range(300):
        x, noise = generator.standard_normal((2, 43))
        datasets.append((np.exp(x), np.clip(np.round(6 * (0.55 + 0.15 * x + 0.2 * noise)) / 6, 0, 1)))
    x, noise = generator.standard_normal((2, 2_000_000))
    truth = np.corrcoef(np.exp(x), np.clip(np.round(6 * (0.55 + 0.15 * x + 0.2 * noise)) / 6, 0, 1))[0, 1]
    intervals = bootstrap_intervals("pearson", datasets, 1000, seed=0)
    lows, highs = np.array([interval[:2] for interval in intervals], dtype=float).T
    assert np.mean((lows <= truth) & (truth <= highs)) >= 0.88
    assert 0.2 < np.median(highs - lows) < 0.8
    assert (highs - lows).max() < 1.5


def test_where_resamples_are_constant_there_is_no_interval() -> None:
    one_relevant = np.eye(10)[0]
    names = [("utility", "nDCG")]
    (interval,) = bootstrap_intervals("pearson", [(np.arange(10.0), one_relevant)], 500, seed=0, names=names)
    lost = sum((weights[:, 0] == 0).sum() for weights in resample_counts(10, 500, 0))  # or 10 of 10, never drawn here
    assert interval == (None, None, f"nDCG, which is the same in 9 of 10 rows, is constant in {lost} of 500 resamples")


@coefficients
def test_a_constant_resample_is_undefined_in_spite_of_rounding(coefficient: str) -> None:
    y = np.array([*[0.1] * 19, 0.7])
    (counts,) = resample_counts(19, 50, seed=0)
    without_the_last = np.column_stack([counts, np.zeros(50)])
    x, _ = sample(20, 4)
    assert np.isnan(STATISTICS[coefficient](without_the_last, x, y)).all()
    assert np.isnan(STATISTICS[coefficient](without_the_last, y, x)).all()


@coefficients
def test_perfect_correlation_has_no_interval(coefficient: str) -> None:
    x = np.arange(6.0)
    (interval,) = bootstrap_intervals(coefficient, [(x, 2 * x + 0.1)], 200, seed=0)
    assert interval[:2] == (None, None)
    assert "perfect" in str(interval.reason)


def test_draws_to_one_side_give_a_reason_not_a_number() -> None:
    interval = bca_interval(0.9, np.linspace(0.1, 0.5, 100), np.linspace(0.8, 0.9, 20))
    assert interval[:2] == (None, None)
    assert interval.reason is not None


def test_large_sample_spearman_by_hand() -> None:
    low, high, _ = correlation.spearman_interval(0.3, 2000)
    error = np.sqrt((1 + 0.09 / 2) / 1997)
    assert low == pytest.approx(np.tanh(np.arctanh(0.3) - 1.959963985 * error))
    assert high == pytest.approx(np.tanh(np.arctanh(0.3) + 1.959963985 * error))


def test_large_sample_kendall_without_ties_equals_the_variance_of_the_queries_parts() -> None:
    x, noise = np.random.default_rng(0).standard_normal((2, 300))
    y = x + noise
    tau = stats.kendalltau(x, y).statistic
    parts = [np.mean([np.sign((x[i] - x[j]) * (y[i] - y[j])) for j in range(300) if j != i]) for i in range(300)]
    error = 2 * np.std(parts) / np.sqrt(300) / (1 - tau**2)
    low, high, _ = correlation.kendall_interval(tau, x, y)
    np.testing.assert_allclose(np.arctanh([low, high]), np.arctanh(tau) + 1.959963985 * error * np.array([-1, 1]))


def test_large_sample_kendall_with_ties_agrees_with_the_bootstrap() -> None:
    x, noise = np.random.default_rng(1).standard_normal((2, 700))
    y = (x + 2 * noise > 1.5).astype(float)
    tau = stats.kendalltau(x, y).statistic
    (drawn,) = bootstrap_intervals("kendall", [(x, y)], 1000, seed=0)
    width = np.diff(correlation.kendall_interval(tau, x, y)[:2])[0]
    # A variance of n alone, 0.437 / (n - 4), makes it 25% shorter here.
    assert width == pytest.approx(drawn.high - drawn.low, rel=0.08)


@pytest.mark.parametrize("n", [1, 2, 5, 255, 256, 257, 600])
@pytest.mark.parametrize(("x_values", "y_values"), [(1, 1), (3, 4), (2, 600), (600, 5), (600, 600)])
def test_concordances_are_those_of_all_pairs(n: int, x_values: int, y_values: int) -> None:
    random = np.random.default_rng([n, x_values, y_values])
    x, y = (np.unique(random.integers(0, values, n), return_inverse=True)[1] for values in (x_values, y_values))
    of_pairs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    np.testing.assert_array_equal(concordances(x, y), of_pairs.sum(axis=1))
