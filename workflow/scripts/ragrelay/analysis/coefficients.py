"""Correlation coefficients of many resamples at once.

A resample of n queries is a row of weights: how often each query was drawn. Every function takes such rows,
``weights`` (rows, n), with ``x`` and ``y`` (n,), and returns one coefficient per row (rows,), equal to the
coefficient of the queries repeated by their weights; NaN where a column is constant within the resample.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# A variance below this share of the second moment is the rounding error of a constant column.
ROUNDING = 1e-12


def pearson(weights: Array, x: Array, y: Array) -> Array:
    """Pearson's r of each row of ``weights`` (rows, n), by weighted moments."""
    moments = weights @ _features(x, y) / weights.sum(axis=1, keepdims=True)
    return _pearson_of_moments(moments)


def pearson_left_out(x: Array, y: Array) -> Array:
    """Pearson's r without each query in turn (n,): the jackknife, without its n x n weights."""
    features = _features(x, y)
    return _pearson_of_moments((features.sum(axis=0) - features) / (len(x) - 1))


def spearman(weights: Array, x: Array, y: Array) -> Array:
    """Spearman's rho of each row of ``weights`` (rows, n): Pearson's r of midranks taken within the resample."""
    total = weights.sum(axis=1)
    centred, variances = [], []
    for column in (x, y):
        counts, group = _counts_of_values(weights, column)
        # Midranks average to (total + 1) / 2 whatever the ties are, so the centring is exact.
        midranks = counts.cumsum(axis=1) - (counts - 1) / 2 - (total[:, None] + 1) / 2
        centred.append(midranks[:, group])
        variances.append(np.einsum("rg,rg,rg->r", counts, midranks, midranks))
    covariance = np.einsum("rn,rn,rn->r", weights, *centred)
    return _ratio(covariance, variances[0], variances[1])


def kendall(weights: Array, x: Array, y: Array) -> Array:
    """Kendall's tau-b of each row of ``weights`` (rows, n).

    Copies of one query are tied with each other in both columns, as any ties are (Kendall 1945).
    """
    total = weights.sum(axis=1)
    agreement = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    concordance = np.einsum("rn,rn->r", weights @ agreement, weights)
    untied = []
    for column in (x, y):
        counts, _ = _counts_of_values(weights, column)
        untied.append(total**2 - np.einsum("rg,rg->r", counts, counts))
    return _ratio(concordance, untied[0], untied[1])


def _features(x: Array, y: Array) -> Array:
    """First and second powers of the standardised columns, (n, 5): x, y, xx, xy, yy."""
    x = (x - x.mean()) / x.std()
    y = (y - y.mean()) / y.std()
    return np.column_stack([x, y, x * x, x * y, y * y])


def _pearson_of_moments(moments: Array) -> Array:
    """Pearson's r (rows,) of mean features (rows, 5) in the order of ``_features``."""
    x, y, xx, xy, yy = moments.T
    x_variance, y_variance = xx - x * x, yy - y * y
    x_variance[x_variance <= ROUNDING * xx] = 0.0
    y_variance[y_variance <= ROUNDING * yy] = 0.0
    return _ratio(xy - x * y, x_variance, y_variance)


def _ratio(covariance: Array, x_variance: Array, y_variance: Array) -> Array:
    """covariance / sqrt(x_variance * y_variance), within [-1, 1]; NaN where a variance is 0."""
    scale = np.sqrt(x_variance * y_variance)
    ratio = np.full_like(covariance, np.nan)
    np.divide(covariance, scale, out=ratio, where=scale > 0)
    return np.clip(ratio, -1.0, 1.0)


def _counts_of_values(weights: Array, column: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """How often each distinct value of ``column`` occurs per row (rows, values), and each query's value (n,)."""
    _, group = np.unique(column, return_inverse=True)
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.add.reduceat(weights[:, order], first, axis=1), group
