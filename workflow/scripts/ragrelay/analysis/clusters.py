"""Support clustered queries: number the clusters, test a slope, and compute rho with each query left out in turn."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from ragrelay.analysis.coefficients import ROUNDING, Array

WITHIN = 0.5
"""The within-cluster correlation that the degrees of freedom are based on."""
CLUSTER = "cluster"
NOT_BY_CLUSTER = "not computed, because the queries form clusters"
"""The reason in rows without interval and p-value."""
Clusters = Mapping[str, int]
"""Each query's cluster number, keyed by qid; in its place, None if queries are independent."""
Indexes = npt.NDArray[np.intp]


def cluster_column(clusters: Clusters | None) -> pl.Expr:
    """Return an expression that maps ``qid`` to the column ``cluster``, which is null if queries are independent."""
    numbers = pl.lit(None) if clusters is None else pl.col("qid").replace_strict(clusters, return_dtype=pl.Float64)
    return numbers.cast(pl.Float64).alias(CLUSTER)


def of_queries(qids: pl.Series, clusters: Clusters | None) -> Indexes | None:
    """Return the cluster number of each query in ``qids`` (n,), or None if the queries are independent."""
    return None if clusters is None else qids.replace_strict(clusters).to_numpy().astype(np.intp)


def indexes(column: Array) -> Indexes | None:
    """Convert a column from ``cluster_column`` to integers (n,), or return None if the queries are independent."""
    return None if not len(column) or np.isnan(column).any() else column.astype(np.intp)


def effective_number(sizes: npt.NDArray[Any]) -> float:
    """Return the effective number of clusters, which is (sum of ``sizes``)² / sum of squared ``sizes``."""
    return float(sizes.sum() ** 2 / (sizes.astype(np.float64) ** 2).sum())


def untested(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Set ``columns`` to null, because their values assume independent queries, and fill in the ``reason``.

    Existing reasons are kept.
    """
    nulls = table.with_columns(pl.lit(None, table.schema[name]).alias(name) for name in columns)
    return nulls.with_columns(pl.col("reason").fill_null(NOT_BY_CLUSTER)) if "reason" in nulls.columns else nulls


class ClusteredSlope(NamedTuple):
    """A slope's two-sided p-value (null hypothesis: 0), degrees of freedom and standard error, or None if untested."""

    p_value: float | None
    df: float | None
    error: float | None = None


def clustered_slope(x: Array, y: Array, cluster: npt.NDArray[np.intp]) -> ClusteredSlope:
    """Test the slope of ``y`` on ``x`` (n,), allowing for correlation between rows of the same cluster.

    ``cluster`` (n,) is each row's cluster number, starting at 0. The test statistic is the slope divided by its
    standard error, from a jackknife that leaves out one cluster at a time (CR3, Bell and McCaffrey 2002). The degrees
    of freedom are (sum q)² / sum q² - 1 (Satterthwaite), where q is a cluster's contribution to the slope's variance.
    There are few degrees of freedom if only a few clusters differ from the rest in x. With u = x - mean(x) and an
    assumed within-cluster correlation WITHIN, q is (1 - WITHIN) sum u² + WITHIN (sum u)². There is no test if x or y
    becomes constant when a cluster is left out, or if leaving out a cluster never changes the slope.
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
    return ClusteredSlope(float(2 * special.stdtr(df, -abs(slope) / error)), df, float(error))


def spearman_left_out(x: Array, y: Array, query: npt.NDArray[np.intp]) -> Array:
    """Approximate Spearman's rho with each query's rows left out in turn, as an array (queries,).

    An exact computation would need one sort per query. To first order, leaving out m of the n rows lowers rho by the
    sum of these rows' influences, divided by n - m. ``query`` (n,) is the index of each row's query. Influences are
    defined as in Croux and Dehon (2010). Let F and G be the midranks of x and y, divided by n and centred. Then rho = S
    / sqrt(A B), where S, A and B are the means of F G, F² and G². A row's influence on S is F G + u + v - 3 S, where n
    u is the sum of G over rows with a larger x, and n v the sum of F over rows with a larger y (ties count half). The
    row's influence on A is F² + 2 w - 3 A, where n w is the sum of F over rows with a larger x.
    """
    f, g = _midranks(x), _midranks(y)
    s, a, b = (float(product.mean()) for product in (f * g, f * f, g * g))
    of_s = f * g + _mean_above(x, g) + _mean_above(y, f) - 3 * s
    of_a, of_b = f * f + 2 * _mean_above(x, f) - 3 * a, g * g + 2 * _mean_above(y, g) - 3 * b
    influences = (of_s - s / 2 * (of_a / a + of_b / b)) / np.sqrt(a * b)
    return s / np.sqrt(a * b) - np.bincount(query, influences) / (len(x) - np.bincount(query))


def _midranks(column: Array) -> Array:
    """Return midranks divided by the number of rows, minus their mean."""
    _, group, counts = np.unique(column, return_inverse=True, return_counts=True)
    return ((counts.cumsum() - counts / 2) / len(column) - 0.5)[group]


def _mean_above(column: Array, values: Array) -> Array:
    """Sum, for each row, ``values`` over the rows with a larger ``column`` (equal ones count half), and divide by n."""
    _, group = np.unique(column, return_inverse=True)
    sums = np.bincount(group, values)
    return (sums[::-1].cumsum()[::-1] - sums / 2)[group] / len(column)
