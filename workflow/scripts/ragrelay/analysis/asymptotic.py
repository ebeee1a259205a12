"""Large-sample intervals of rank correlations, for samples where a bootstrap would be slow and add nothing."""

import numpy as np
from scipy import stats

from ragrelay.analysis.bootstrap import Interval
from ragrelay.analysis.coefficients import ROUNDING, Array

SPEARMAN_METHOD = "Fisher z, Bonett-Wright variance"
KENDALL_METHOD = "Fisher z, asymptotic variance"

# Rows of the n x n comparisons in memory at a time.
ROWS = 256


def spearman_interval(rho: float, n: int, level: float = 0.95) -> Interval:
    """Interval of Spearman's rho on Fisher's z with variance (1 + rho^2 / 2) / (n - 3).

    Source: Bonett and Wright 2000, Psychometrika 65.
    """
    if 1.0 - abs(rho) < ROUNDING:
        return Interval(None, None, "perfect correlation, no sampling variance")
    return _fisher_interval(rho, float(np.sqrt((1.0 + rho**2 / 2.0) / (n - 3))), level)


def kendall_interval(tau: float, x: Array, y: Array, level: float = 0.95) -> Interval:
    """Interval of Kendall's tau-b of ``x`` and ``y`` (n,) on Fisher's z, with its estimated asymptotic variance.

    tau-b = A / sqrt(B C), where A (concordance), B and C (shares of pairs untied in x, in y) are U-statistics;
    each query's part in them gives the variance (Hoeffding 1948, Annals of Mathematical Statistics 19; delta
    method). A variance that depends on n alone is too small where a column has many ties, as nDCG@1 does.
    """
    if 1.0 - abs(tau) < ROUNDING:
        return Interval(None, None, "perfect correlation, no sampling variance")
    n = len(x)
    concordance = np.empty(n)
    x_ranks, y_ranks = (stats.rankdata(column, method="dense").astype(np.int32) for column in (x, y))
    for start in range(0, n, ROWS):
        rows = slice(start, start + ROWS)
        x_order = np.sign(x_ranks[rows, None] - x_ranks).astype(np.int8)
        y_order = np.sign(y_ranks[rows, None] - y_ranks).astype(np.int8)
        concordance[rows] = (x_order * y_order).sum(axis=1, dtype=np.int64)
    x_untied, y_untied = (n - np.bincount(ranks)[ranks] for ranks in (x_ranks, y_ranks))
    parts = concordance / np.sqrt(x_untied.mean() * y_untied.mean())
    parts -= tau / 2.0 * (x_untied / x_untied.mean() + y_untied / y_untied.mean())
    error = 2.0 * np.sqrt((parts**2).mean() / n)
    return _fisher_interval(tau, float(error) / (1.0 - tau**2), level)


def _fisher_interval(value: float, error: float, level: float) -> Interval:
    """tanh(atanh(value) -+ quantile * error), ``error`` being the standard error on Fisher's z."""
    centre = np.arctanh(value)
    reach = stats.norm.ppf((1.0 + level) / 2) * error
    return Interval(float(np.tanh(centre - reach)), float(np.tanh(centre + reach)))
