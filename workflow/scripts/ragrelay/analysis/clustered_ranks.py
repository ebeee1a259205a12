"""Spearman's rho where a query has several rows: the unit that is left out is the query."""

import numpy as np
import numpy.typing as npt

from ragrelay.analysis.coefficients import Array


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
    """Of each row: the sum of ``values`` over the rows of a larger ``column``, half over those of an equal one, / n."""
    _, group = np.unique(column, return_inverse=True)
    sums = np.bincount(group, values)
    return (sums[::-1].cumsum()[::-1] - sums / 2)[group] / len(column)
