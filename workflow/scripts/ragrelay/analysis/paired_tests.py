"""Tests of paired differences other than Student's t: Wilcoxon's signed ranks, sign flips; effect size and power."""

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
# Signs of one chunk of permutations (16 MiB): bounds memory at any n.
CHUNK = 2**21
# Scipy's Wilcoxon test flips all signs of so many differences with ties or zeros: 2^n values for each column.
FLIPPED_AT_MOST = 13
# Sums that differ by less than this share of the largest possible one differ by rounding.
ROUNDING = 1e-12


def all_tests(columns: Sequence[Array], permutations: int, seed: int) -> list[dict[str, float]]:
    """Every test of columns of differences (n,), of equal n of 2 at least, none constant; a dict per column.

    ``t`` and ``p_value`` are Student's paired t-test's, ``low`` and ``high`` bound its 95% interval of the mean,
    ``d_z`` is Cohen's (mean / sd of the differences) with its interval, ``detectable_difference`` what n pairs with
    this spread find at 5% with 80% probability; p_wilcoxon and p_permutation are the tests' below.
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
    """Two-sided p-values of Wilcoxon's signed-rank test (1945), scipy's, one per column of differences, all (n,).

    Zeros are dropped, ties share their rank. Exact for up to 50 differences without ties and zeros, and by all flips
    for up to 13 with some; by the normal approximation otherwise (scipy's ``auto``, as of one column alone).
    """
    differences = np.column_stack(columns)
    sizes = np.sort(np.abs(differences), axis=0)
    plain = (sizes[0] > 0) & (np.diff(sizes, axis=0) > 0).all(axis=0)
    p_values = np.empty(len(plain))
    # Scipy chooses the method for all that it is given: what has ties must not decide for what has none.
    others = np.flatnonzero(~plain)
    for places in (np.flatnonzero(plain), *([others] if len(differences) > FLIPPED_AT_MOST else others[:, None])):
        if len(places):
            p_values[places] = stats.wilcoxon(differences[:, places]).pvalue
    return p_values


def sign_flip_p(columns: Sequence[Array], permutations: int, seed: int) -> Array:
    """Two-sided p-values of the paired permutation test of the mean, one per column of differences (n,), of equal n.

    Under the null hypothesis every difference could as well have the other sign (Fisher 1935). All 2^n flips are
    taken where they are not more than ``permutations``; otherwise so many random ones, the sample counted among them
    (Phipson and Smyth 2010). scipy's permutation_test gives the same, one column at a time and far slower: here one
    product of signs and differences serves all columns.
    """
    differences = np.column_stack(columns)
    observed = np.abs(differences.sum(axis=0))
    limits = observed - ROUNDING * np.abs(differences).sum(axis=0)
    exact = 2 ** len(differences) <= permutations if len(differences) < 63 else False
    flips = _all_flips(len(differences)) if exact else _random_flips(len(differences), permutations, seed)
    extreme, made = np.zeros(differences.shape[1]), 0
    for flip in flips:
        # sum(sign * d) = sum(d) - 2 * sum of the flipped.
        sums = differences.sum(axis=0) - 2.0 * (flip.astype(np.float64) @ differences)
        extreme += np.count_nonzero(np.abs(sums) >= limits, axis=0)
        made += len(flip)
    result: Array = extreme / made if exact else (extreme + 1.0) / (made + 1.0)
    return result


def effect_interval(t: npt.ArrayLike, n: int) -> tuple[Array, Array]:
    """95% intervals of Cohen's d_z = t / sqrt(n): the noncentral t distributions in whose tails the ``t`` lie.

    Source: Cumming and Finch 2001, Educational and Psychological Measurement 61; scipy's inverse of the noncentral t.
    """
    tail = (1.0 - 0.95) / 2
    low, high = (special.nctdtrinc(n - 1, share, t) / np.sqrt(n) for share in (1.0 - tail, tail))
    return low, high


@cache
def detectable_effect(n: int) -> float:
    """The smallest d_z that a two-sided paired t-test at 5% finds with 80% probability from n pairs (statsmodels)."""
    return float(TTestPower().solve_power(nobs=n, alpha=ALPHA, power=POWER, alternative="two-sided"))


@cache
def detectable_correlation(n: int) -> float:
    """The smallest |r| that differs from 0 at 5%, two-sided, with 80% probability from n queries, on Fisher's z."""
    reach = stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(POWER)
    return float(np.tanh(reach / np.sqrt(n - 3)))


def _all_flips(n: int) -> Iterator[npt.NDArray[np.uint8]]:
    yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.uint8)


def _random_flips(n: int, permutations: int, seed: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Chunks (rows, n) of 0 and 1, that depend on n and ``seed`` alone."""
    generator = np.random.default_rng([seed, n])
    rows_at_once = max(1, CHUNK // n)
    for start in range(0, permutations, rows_at_once):
        rows = min(rows_at_once, permutations - start)
        # Whole words per row, so that chunks of any size draw the same.
        bits = np.frombuffer(generator.bytes(rows * 8 * ((n + 63) // 64)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n)
