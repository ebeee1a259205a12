"""Studentised permutation tests of correlations: level kept where columns are uncorrelated but not independent."""

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.paired_tests import POWER

# Above this many queries the statistic is referred to Student's t, which permutations would only confirm.
PERMUTED_AT_MOST = 200
# Permutations at a time: few enough for the processor's own memory.
ORDERS = 500
# What detectable_rho takes from n, by which it agrees with simulated verdicts from so many queries on.
COST, DETECTED_FROM = 5.5, 10
TRANSFORMS = {"pearson": lambda columns: columns, "spearman": lambda columns: stats.rankdata(columns, axis=-1)}


def permutation_p(
    coefficient: str, pairs: Sequence[tuple[Array, Array]], permutations: int, seed: int
) -> npt.NDArray[np.float64]:
    """Two-sided p-values of "``coefficient`` (pearson or spearman) is 0", one per pair of columns, all (n,).

    The statistic is sqrt(n) r / tau, where tau^2 is the mean of x^2 y^2 over the product of the means of x^2 and y^2,
    both centred: what r varies by where it is 0, whether or not the columns are independent. One column is permuted
    ``permutations`` times, the sample counted among them, by orders that depend on n and ``seed`` alone. Exact for
    independent columns, and right in the limit for all uncorrelated ones, where permuting r itself is not (DiCiccio
    and Romano 2017, Journal of the American Statistical Association 112; for ranks Yu and Hutson 2022). With more than
    200 queries the statistic is referred to Student's t on n - 2 degrees of freedom.
    """
    x, y = _standardised(TRANSFORMS[coefficient](np.array(pairs).swapaxes(0, 1)))
    observed, n = _sizes((x * y).sum(axis=1), ((x * y) ** 2).sum(axis=1)), x.shape[1]
    if n > PERMUTED_AT_MOST:
        return np.asarray(2.0 * special.stdtr(n - 2, -observed), dtype=np.float64)
    # Many pairs have one measure: its permutations serve them all.
    measures, of_pair = np.unique(y, axis=0, return_inverse=True)
    sharing = [np.flatnonzero(of_pair == place) for place in range(len(measures))]
    orders, extreme = _orders(n, permutations, seed), np.zeros(len(pairs))
    for start in range(0, permutations, ORDERS):
        for measure, places in zip(measures, sharing, strict=True):
            permuted = measure[orders[start : start + ORDERS]]
            sizes = _sizes(permuted @ x[places].T, permuted**2 @ x[places].T ** 2)
            extreme[places] += np.count_nonzero(sizes >= observed[places] * (1.0 - ROUNDING), axis=0)
    result: npt.NDArray[np.float64] = (extreme + 1.0) / (permutations + 1.0)
    return result


@cache
def detectable_rho(n: int) -> float | None:
    """The smallest |rho| of which n queries have a verdict (verdicts.of_correlation) with 80% probability; None: none.

    On Fisher's z with the variance of Bonett and Wright (2000), (1 + rho^2 / 2) / (n - 3), but n - 5.5: the verdict
    needs a test and an interval, and finds less than either (simulated on normal columns, benchmarks/verdict_power.py).
    """
    if n < DETECTED_FROM:
        return None
    reach = float(stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(POWER))

    def short(rho: float) -> float:
        return float(np.arctanh(rho) - reach * np.sqrt((1.0 + rho**2 / 2) / (n - COST)))

    return float(optimize.brentq(short, 0.0, 1.0 - ROUNDING))


@lru_cache(maxsize=16)
def _orders(n: int, permutations: int, seed: int) -> npt.NDArray[np.integer]:
    """Random orders of n places: (permutations, n)."""
    random = np.random.default_rng([seed, n])
    return np.array([random.permutation(n) for _ in range(permutations)], dtype=np.min_scalar_type(n))


def _standardised(columns: Array) -> Array:
    centred: Array = columns - columns.mean(axis=-1, keepdims=True)
    return centred / centred.std(axis=-1, keepdims=True)


def _sizes(products: Array, squares: Array) -> Array:
    """Sizes of the statistic, from sums of products of standardised columns and of their squares; 0 if undefined."""
    scale = np.sqrt(squares)
    return np.abs(products) / np.where(scale > ROUNDING, scale, np.inf)
