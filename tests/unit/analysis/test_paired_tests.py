"""The tests beside Student's t, effect sizes and power, against scipy and by hand."""

import numpy as np
import pytest
from ragrelay.analysis import paired_tests
from ragrelay.analysis.paired_tests import (
    LARGE_T,
    detectable_correlation,
    detectable_effect,
    effect_interval,
    sign_flip_p,
    wilcoxon_p,
)
from scipy import stats


def columns(n: int, number: int = 4, seed: int = 0) -> list[np.ndarray]:
    return [np.random.default_rng([seed, n, place]).normal(0.15 * place, 1, n) for place in range(number)]


def scipys(column: np.ndarray, resamples: int) -> float:
    def mean(x: np.ndarray, axis: int) -> np.ndarray:
        return x.mean(axis=axis)

    test = stats.permutation_test(
        (column,), mean, permutation_type="samples", n_resamples=resamples, rng=np.random.default_rng(1)
    )
    return float(test.pvalue)


def test_all_flips_of_few_differences_by_hand() -> None:
    # Sums of +-1 +-2 +-3: +-6, +-4, +-2, 0, 0; two of eight are as far out as 6, four as far as 4.
    assert sign_flip_p([np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 3.0])], 100, 0) == pytest.approx([2 / 8, 4 / 8])


def test_exact_permutations_equal_scipys() -> None:
    ours = sign_flip_p(columns(10), 5000, 0)
    assert ours == pytest.approx([scipys(column, 5000) for column in columns(10)])


def test_random_permutations_agree_with_scipys() -> None:
    ours = sign_flip_p(columns(60), 20_000, 0)
    assert ours == pytest.approx([scipys(column, 20_000) for column in columns(60)], abs=0.015)
    assert (sign_flip_p(columns(60), 20_000, 1) != ours).any()


def test_a_column_gets_the_same_alone_and_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    together = sign_flip_p(columns(40), 3000, 0)
    assert sign_flip_p(columns(40)[2:3], 3000, 0)[0] == together[2]
    monkeypatch.setattr(paired_tests, "CHUNK", 40 * 701)
    assert sign_flip_p(columns(40), 3000, 0) == pytest.approx(together, abs=1e-12)


def test_no_random_permutation_gives_a_p_value_of_zero() -> None:
    assert sign_flip_p([np.arange(1.0, 41.0)], 999, 0) == pytest.approx([1 / 1000])


def test_wilcoxon_by_hand() -> None:
    # All five signed ranks are positive: one of 2^5 sign patterns, two-sided.
    assert wilcoxon_p([np.array([0.1, 0.2, 0.3, 0.4, 0.5])]) == pytest.approx([2 / 32])
    # Zeros are dropped: the same ranks, now by the normal approximation with mean n(n+1)/4 and its variance.
    with_zero = wilcoxon_p([np.array([0.0, *np.arange(1.0, 61.0), -61.0])])
    rank_sum, n = 60 * 61 / 2, 61
    z = (rank_sum - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    assert with_zero == pytest.approx([2 * stats.norm.sf(z)], rel=0.01)


@pytest.mark.simulation
@pytest.mark.parametrize("n", [2, 8, 13, 14, 50, 51])
def test_a_column_without_ties_is_tested_as_if_alone(n: int) -> None:
    plain = columns(n)
    tied, zero = np.round(plain[1], 1), np.where(np.arange(n) == 0, 0.0, plain[2])
    mixed = [plain[0], tied, zero, plain[3]]
    assert wilcoxon_p(mixed) == pytest.approx([float(stats.wilcoxon(column).pvalue) for column in mixed])


@pytest.mark.parametrize(("t", "n"), [(2.0, 43), (-7.5, 12), (0.0, 54), (30.0, 6980)])
def test_effect_interval_puts_t_in_the_tails_of_its_ends(t: float, n: int) -> None:
    low, high = effect_interval(t, n)
    assert stats.nct.sf(t, n - 1, low * np.sqrt(n)) == pytest.approx(0.025, abs=1e-4)
    assert stats.nct.cdf(t, n - 1, high * np.sqrt(n)) == pytest.approx(0.025, abs=1e-4)


@pytest.mark.parametrize("n", [2, 43, 6980])
@pytest.mark.parametrize("sign", [1, -1])
def test_effect_interval_of_nearly_equal_differences(n: int, sign: int) -> None:
    """Their t may be a billion; scipy takes 2.5 seconds for a t of a million, and longer for larger ones."""
    low, high = effect_interval([sign * LARGE_T, sign * LARGE_T * 1.0001, sign * 1e9], n)
    for end in (low, high):
        assert end[1] / end[0] == pytest.approx(1.0001, rel=5e-4)
        assert end[2] / end[1] == pytest.approx(1e9 / LARGE_T / 1.0001, rel=1e-9)
    assert (low < high).all() and (np.sign([low, high]) == sign).all()


@pytest.mark.parametrize("n", [5, 43, 6980])
def test_detectable_effect_has_80_percent_power(n: int) -> None:
    shift, reach = detectable_effect(n) * np.sqrt(n), stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(reach, n - 1, shift) + stats.nct.cdf(-reach, n - 1, shift)
    assert power == pytest.approx(0.8, abs=1e-4)


def test_detectable_correlation_is_found_four_times_of_five() -> None:
    rho, random = detectable_correlation(43), np.random.default_rng(0)
    x, noise = random.standard_normal((2, 4000, 43))
    y = rho * x + np.sqrt(1 - rho**2) * noise
    assert np.mean(stats.pearsonr(x, y, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.025)


@pytest.mark.simulation
def test_tests_keep_their_level_on_normal_data() -> None:
    data = [np.random.default_rng([5, place]).standard_normal(43) for place in range(1500)]
    rejected = {
        "t": np.mean([stats.ttest_1samp(column, 0).pvalue < 0.05 for column in data]),
        "wilcoxon": np.mean(wilcoxon_p(data) < 0.05),
        "permutation": np.mean(sign_flip_p(data, 1000, 0) < 0.05),
    }
    for name, share in rejected.items():
        assert 0.035 < share < 0.065, name
