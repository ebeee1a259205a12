"""Whether two columns go together where rows come in clusters: slope, and rho with whole queries left out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis.coefficients import ROUNDING, Array

WITHIN = 0.5
"""Correlation of the rows of a cluster that the degrees of freedom assume."""


class ClusteredSlope(NamedTuple):
    """Two-sided p-value of a slope of 0, and the degrees of freedom of its test; None where there is no test."""

    p_value: float | None
    df: float | None


def clustered_slope(x: Array, y: Array, cluster: npt.NDArray[np.intp]) -> ClusteredSlope:
    """Test the slope of ``y`` on ``x`` (n,), whose rows are alike within the clusters 0, 1, … of ``cluster`` (n,).

    t is the slope over its jackknife error, leaving out one cluster at a time (CR3 of Bell and McCaffrey 2002). Its
    degrees of freedom are not the number of clusters less one, of which few may have another x than the rest: by
    Satterthwaite's approximation they are (sum q)² / sum q² - 1, with q the variance that a cluster adds to the slope
    if its rows correlate by WITHIN: (1 - WITHIN) sum u² + WITHIN (sum u)², of u = x less its mean. No test where x
    or y is constant without some cluster, or the slope doesn't move.
    """
    u, v = x - x.mean(), y - y.mean()
    n, size = len(x), np.bincount(cluster)
    sum_u, sum_v, uu, uv, vv = (np.bincount(cluster, values) for values in (u, v, u * u, u * v, v * v))
    rest = n - size
    square = uu.sum() - uu - sum_u**2 / np.maximum(rest, 1)
    spread = vv.sum() - vv - sum_v**2 / np.maximum(rest, 1)
    if not (square > ROUNDING * uu.sum()).all() or not (spread > ROUNDING * vv.sum()).all():
        return ClusteredSlope(None, None)
    left_out = (uv.sum() - uv - sum_u * sum_v / rest) / square
    count = len(size)
    error = np.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
    q = (1 - WITHIN) * uu + WITHIN * sum_u**2
    df = float(q.sum() ** 2 / (q**2).sum()) - 1.0
    if not error * np.sqrt(uu.sum() / vv.sum()) > ROUNDING or not df > ROUNDING:
        return ClusteredSlope(None, None)
    slope = float(uv.sum() / uu.sum())
    return ClusteredSlope(float(2 * special.stdtr(df, -abs(slope) / error)), df)


def spearman_left_out(x: Array, y: Array, query: npt.NDArray[np.intp]) -> Array:
    """Spearman's rho of n rows without those of each query in turn (queries,), to first order.

    ``query`` (n,): whose each row is, from 0 on. With F and G the columns' midranks, divided by n and centred, rho is
    S / sqrt(A B), where S, A and B are the means of F G, F² and G². A row's influence on S is F G + u(x) + v(y) - 3 S,
    with u the mean of G over the rows of a larger x, those of an equal one counted half, and v the same of F by y; that
    on A is F² + 2 w(x) - 3 A, with w as u but of F (Croux and Dehon 2010, Statistical Methods & Applications 19).
    Without m of the n rows, rho is less by the sum of their influences / (n - m). This takes the time of sorting, where
    ranking the rows again for each query takes as much for each.
    """
    f, g = _midranks(x), _midranks(y)
    s, a, b = (float(product.mean()) for product in (f * g, f * f, g * g))
    of_s = f * g + _mean_above(x, g) + _mean_above(y, f) - 3 * s
    of_a, of_b = f * f + 2 * _mean_above(x, f) - 3 * a, g * g + 2 * _mean_above(y, g) - 3 * b
    influences = (of_s - s / 2 * (of_a / a + of_b / b)) / np.sqrt(a * b)
    return s / np.sqrt(a * b) - np.bincount(query, influences) / (len(x) - np.bincount(query))


def _midranks(column: Array) -> Array:
    """Divided by the number of rows, less their mean."""
    _, group, counts = np.unique(column, return_inverse=True, return_counts=True)
    return ((counts.cumsum() - counts / 2) / len(column) - 0.5)[group]


def _mean_above(column: Array, values: Array) -> Array:
    """For each row, the sum of ``values`` over rows of a larger ``column``, half over those of an equal one, / n."""
    _, group = np.unique(column, return_inverse=True)
    sums = np.bincount(group, values)
    return (sums[::-1].cumsum()[::-1] - sums / 2)[group] / len(column)
