"""Whether two columns go together where rows come in clusters: few clusters may carry one of the columns."""

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
