"""Test paired differences (Student's t, Wilcoxon's signed-rank test, sign flips); compute effect sizes and power."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special, stats
from statsmodels.stats.power import TTestPower

from ragrelay.analysis.multiplicity import ALPHA

Array = npt.NDArray[np.float64]

PERMUTATIONS = 10_000
POWER = 0.8
# Signs per chunk of permutations (16 MiB), which limits memory at any n.
CHUNK = 2**21
# Up to this many differences with ties or zeros, scipy's Wilcoxon test uses all sign flips: 2^n values per column.
FLIPPED_AT_MOST = 13
# Sums that differ by less than this share of the largest possible sum differ only by rounding.
ROUNDING = 1e-12
# At this t, effect_interval's two methods differ by less than 4 in 10,000.
LARGE_T = 1_000.0


def all_tests(columns: Sequence[Array], permutations: int, seed: int) -> list[dict[str, float]]:
    """Run all tests on several columns of differences (n,). All columns have the same n >= 2, and none is constant.

    Returns one dict per column. ``t``, ``p_value``, ``low`` and ``high`` come from Student's paired t-test; ``d_z`` is
    Cohen's d_z, the mean divided by the standard deviation of the differences. ``detectable_difference`` is the mean
    difference that 80% of studies with n pairs and this standard deviation would detect at 5%.
    """
    differences = np.column_stack(columns)
    n = len(differences)
    student = stats.ttest_1samp(differences, 0.0)
    interval, spread = student.confidence_interval(0.95), differences.std(axis=0, ddof=1)
    d_z_low, d_z_high = effect_interval(student.statistic, n)
    tested = {
        "low": interval.low,
        "high": interval.high,
        "sd_difference": spread,
        "detectable_difference": spread * detectable_effect(n),
        "d_z": differences.mean(axis=0) / spread,
        "d_z_low": d_z_low,
        "d_z_high": d_z_high,
        "t": student.statistic,
        "p_value": student.pvalue,
        "p_wilcoxon": wilcoxon_p(columns),
        "p_permutation": sign_flip_p(columns, permutations, seed),
    }
    return [dict(zip(tested, map(float, values), strict=True)) for values in zip(*tested.values(), strict=True)]


def wilcoxon_p(columns: Sequence[Array]) -> Array:
    """Compute p-values of Wilcoxon's signed-rank test (1945, two-sided) with scipy, one per column of differences (n,).

    Zeros are dropped, and ties share their mean rank. The test is exact for up to 50 differences without ties or zeros.
    With ties or zeros, it uses all sign flips for up to 13 differences. Otherwise, it uses the normal approximation.
    """
    differences = np.column_stack(columns)
    sizes = np.sort(np.abs(differences), axis=0)
    plain = (sizes[0] > 0) & (np.diff(sizes, axis=0) > 0).all(axis=0)
    p_values = np.empty(len(plain))
    # Scipy chooses one method for all columns in a call, so columns with ties need separate calls.
    tied = np.flatnonzero(~plain)
    for places in (np.flatnonzero(plain), *([tied] if len(differences) > FLIPPED_AT_MOST else tied[:, None])):
        if len(places):
            p_values[places] = stats.wilcoxon(differences[:, places]).pvalue
    return p_values


def sign_flip_p(columns: Sequence[Array], permutations: int, seed: int) -> Array:
    """Test by sign flips whether mean differences are 0, and return a two-sided p-value per column of differences (n,).

    Under the null hypothesis, a difference is equally likely to have either sign (Fisher 1935). If there are at most
    ``permutations`` combinations of signs (2^n), all are used; otherwise, the actual and random signs are used (Phipson
    and Smyth 2010). scipy's permutation_test gives the same result, but is far slower for several columns.
    """
    differences = np.column_stack(columns)
    observed = np.abs(differences.sum(axis=0))
    limits = observed - ROUNDING * np.abs(differences).sum(axis=0)
    exact = 2 ** len(differences) <= permutations if len(differences) < 63 else False
    flips = _all_flips(len(differences)) if exact else _random_flips(len(differences), permutations, seed)
    extreme, flipped = np.zeros(differences.shape[1]), 0
    for flip in flips:
        # sum(sign * d) = sum(d) - 2 * sum of the flipped d.
        sums = differences.sum(axis=0) - 2.0 * (flip.astype(np.float64) @ differences)
        extreme += np.count_nonzero(np.abs(sums) >= limits, axis=0)
        flipped += len(flip)
    result: Array = extreme / flipped if exact else (extreme + 1.0) / (flipped + 1.0)
    return result


def effect_interval(t: npt.ArrayLike, n: int) -> tuple[Array, Array]:
    """Compute 95% intervals for Cohen's d_z = t / sqrt(n) by inverting the noncentral t distribution with scipy.

    See Cumming and Finch 2001, Educational and Psychological Measurement 61. The inversion takes longer for larger
    ``t``, which is huge if all differences are nearly equal. Above LARGE_T, the noncentrality is therefore computed as
    t * sqrt(V / (n - 1)), where V is a quantile of the chi-squared distribution.
    """
    tail, values = (1.0 - 0.95) / 2, np.asarray(t, dtype=np.float64)
    large, ends = np.abs(values) > LARGE_T, []
    for share in (1.0 - tail, tail):
        inverted = special.nctdtrinc(n - 1, share, np.where(large, 0.0, values))
        beyond = stats.chi2.ppf(np.where(values > 0, 1.0 - share, share), n - 1)
        ends.append(np.where(large, values * np.sqrt(beyond / (n - 1)), inverted) / np.sqrt(n))
    return ends[0], ends[1]


@cache
def detectable_effect(n: int) -> float:
    """Return the smallest d_z that a two-sided paired t-test at 5% detects with 80% power, given n pairs."""
    return float(TTestPower().solve_power(nobs=n, alpha=ALPHA, power=POWER, alternative="two-sided"))


@cache
def detectable_correlation(n: int) -> float:
    """Return the smallest |r| that a two-sided test on Fisher's z at 5% detects with 80% power, given n queries."""
    reach = stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(POWER)
    return float(np.tanh(reach / np.sqrt(n - 3)))


def _all_flips(n: int) -> Iterator[npt.NDArray[np.uint8]]:
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.uint8)


def _random_flips(n: int, permutations: int, seed: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield chunks (rows, n) of 0 and 1 that depend only on n and ``seed``."""
    generator = np.random.default_rng([seed, n])
    rows_at_once = max(1, CHUNK // n)
    for start in range(0, permutations, rows_at_once):
        rows = min(rows_at_once, permutations - start)
        # Each row uses a multiple of 64 bits, so that the draws don't depend on the chunk's size.
        bits = np.frombuffer(generator.bytes(rows * 8 * ((n + 63) // 64)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n)
