"""Compute correlation coefficients for many resamples at a time.

A resample of n queries is represented by n weights, which count how often each query was drawn. Each row of ``weights``
(rows, n) is a resample. The functions return one coefficient per resample, or NaN if a column is constant among the
drawn queries.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Below this share of the second moment, a variance is just the rounding error of a constant column.
ROUNDING = 1e-12
# Up to this many queries, comparing all pairs in one matrix product is faster than sorting.
COMPARED_AT_MOST = 256
# Number of queries that concordances compares one by one.
COMPARED_AT_ONCE = 256
Ranks = npt.NDArray[np.integer]


def pearson(weights: Array, x: Array, y: Array) -> Array:
    """Compute Pearson's r for each row of ``weights`` (rows, n) from weighted moments."""
    return pearson_of_sums(weights @ pearson_features([(x, y)]))[:, 0]


def pearson_features(pairs: Sequence[tuple[Array, Array]]) -> Array:
    """Return 1, x, y, xx, xy and yy for each pair of standardised columns, as an array (n, 6 × pairs).

    Weighted sums of these features determine each pair's r, so one matrix product with the weights is enough for all
    pairs. If a query's x or y is NaN, all its features for that pair are 0. For speed, columns are grouped by feature.
    """
    columns = np.array(pairs)
    known = np.isfinite(columns).all(axis=1)
    whole = known.all(axis=1)
    features = np.zeros((6, *known.shape))
    features[:, whole] = _moments(columns[whole].swapaxes(0, 1))
    for place in np.flatnonzero(~whole):
        features[:, place, known[place]] = _moments(np.array([column[known[place]] for column in columns[place]]))
    return np.ascontiguousarray(features.transpose(2, 0, 1)).reshape(len(features[0, 0]), -1)


def _moments(columns: Array) -> Array:
    """Return 1, x, y, xx, xy, yy (6, ..., n) of ``columns`` x and y (2, ..., n), standardised over the n."""
    x, y = (columns - columns.mean(axis=-1, keepdims=True)) / columns.std(axis=-1, keepdims=True)
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y])


def pearson_of_sums(sums: Array) -> Array:
    """Compute Pearson's r (rows, pairs) from the weighted sums (rows, 6 × pairs) of ``pearson_features``."""
    count, *rest = np.moveaxis(sums.reshape(len(sums), 6, -1), 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, xy, yy = (values / count for values in rest)
        x_variance, y_variance = xx - x * x, yy - y * y
    x_variance[~(x_variance > ROUNDING * xx)] = 0.0
    y_variance[~(y_variance > ROUNDING * yy)] = 0.0
    return _ratio(xy - x * y, x_variance, y_variance)


def pearson_left_out(features: Array) -> Array:
    """Compute Pearson's r with each query left out in turn, as an array (n, pairs), from ``pearson_features``."""
    return pearson_of_sums(features.sum(axis=0) - features)


def spearman(weights: Array, x: Array, y: Array) -> Array:
    """Compute Spearman's rho for each row of ``weights`` (rows, n), with midranks computed within the resample."""
    x_ranks, y_ranks = (_midranks(weights, column) for column in (x, y))
    weighted = weights * x_ranks
    covariance, x_variance = (np.einsum("rn,rn->r", weighted, ranks) for ranks in (y_ranks, x_ranks))
    return _ratio(covariance, x_variance, np.einsum("rn,rn,rn->r", weights, y_ranks, y_ranks))


def _midranks(weights: Array, column: Array) -> Array:
    """Return twice the queries' midranks in each row of ``weights``, minus their mean (rows, n): exact integers."""
    if len(column) <= COMPARED_AT_MOST:
        ranks: Array = weights @ np.sign(column - column[:, None])
        return ranks
    counts, group = _counts_of_values(weights, column)
    # Midranks average (total + 1) / 2 with any ties, so the centring is exact.
    return (2.0 * counts.cumsum(axis=1) - counts - weights.sum(axis=1, keepdims=True))[:, group]


def kendall(weights: Array, x: Array, y: Array) -> Array:
    """Compute Kendall's tau-b for each row of ``weights`` (rows, n).

    Copies of the same query count as tied in both columns (Kendall 1945).
    """
    total = weights.sum(axis=1)
    # Integers below 2^24 are exact in single precision, which is twice as fast.
    single = weights.astype(np.float32)
    concordance = np.einsum("rn,rn->r", single @ _concordance(x, y).astype(np.float32), weights)
    untied = []
    for column in (x, y):
        counts, _ = _counts_of_values(weights, column)
        untied.append(total**2 - np.einsum("rg,rg->r", counts, counts))
    return _ratio(concordance, untied[0], untied[1])


def kendall_left_out(x: Array, y: Array) -> Array:
    """Compute Kendall's tau-b with each of the n queries left out in turn, as an array (n,)."""
    n, untied, groups = len(x), [], []
    for column in (x, y):
        _, group, sizes = np.unique(column, return_inverse=True, return_counts=True)
        untied.append((n - 1.0) ** 2 - ((sizes**2).sum() - 2 * sizes[group] + 1))
        groups.append(group)
    concordance = concordances(*groups)
    return _ratio(concordance.sum() - 2.0 * concordance, untied[0], untied[1])


def concordances(x_ranks: Ranks, y_ranks: Ranks) -> Ranks:
    """For each query (n,), return the number of concordant minus discordant pairs with the other queries.

    ``x_ranks`` and ``y_ranks`` (n,) are dense ranks, starting at 0. Sort the queries by x. For a query with value y,
    let before(p) be the sum of sign(y - y_j) over the first p queries. If the queries with the same x have positions a
    to b - 1, the result is before(a) + before(b) - before(n). To save time, before(p) is precomputed for multiples of
    COMPARED_AT_ONCE.
    """
    n = len(x_ranks)
    order = np.argsort(x_ranks, kind="stable")
    x_sorted, y_sorted = x_ranks[order], y_ranks[order]
    counts = np.zeros((-(-n // COMPARED_AT_ONCE) + 1, int(y_ranks.max()) + 1), np.int32)
    np.add.at(counts, (np.arange(n) // COMPARED_AT_ONCE + 1, y_sorted), 1)
    counts = counts.cumsum(axis=0, dtype=np.int32)
    up_to = counts.cumsum(axis=1, dtype=np.int32)
    table = 2 * up_to - counts - up_to[:, -1:]  # values below minus values above
    rows = np.pad(y_sorted, (0, COMPARED_AT_ONCE - n % COMPARED_AT_ONCE)).reshape(-1, COMPARED_AT_ONCE)

    def before(place: Ranks) -> Ranks:
        block, rest = np.divmod(place, COMPARED_AT_ONCE)
        signs = np.sign(y_ranks[:, None] - rows[block]) * (np.arange(COMPARED_AT_ONCE) < rest[:, None])
        return np.asarray(table[block, y_ranks] + signs.sum(axis=1))

    first, after = np.searchsorted(x_sorted, x_ranks), np.searchsorted(x_sorted, x_ranks, side="right")
    return np.asarray(before(first) + before(after) - table[-1, y_ranks])


def _concordance(x: Array, y: Array) -> npt.NDArray[np.int8]:
    """Return 1 for pairs of queries (n, n) that x and y order the same way, -1 if oppositely, 0 if tied in either."""
    return (np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).astype(np.int8)


def _ratio(covariance: Array, x_variance: Array, y_variance: Array) -> Array:
    """Return covariance / sqrt(x_variance * y_variance), clipped to [-1, 1]; NaN where a variance is 0."""
    scale = np.sqrt(x_variance * y_variance)
    ratio = np.full_like(covariance, np.nan)
    np.divide(covariance, scale, out=ratio, where=scale > 0)
    return np.clip(ratio, -1.0, 1.0)


def _counts_of_values(weights: Array, column: Array) -> tuple[Array, npt.NDArray[np.intp]]:
    """Count each distinct value in ``column`` per row (rows, values); also return each query's value's index (n,)."""
    _, group = np.unique(column, return_inverse=True)
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    counts = weights[:, order]
    return (counts if len(first) == len(column) else np.add.reduceat(counts, first, axis=1)), group
