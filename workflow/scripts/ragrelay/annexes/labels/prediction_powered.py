"""Estimate a mean or Pearson's r over all queries from a few human labels and many judge labels.

The method is described in analysis/prediction_powered.py, where J is the estimate from the judge's labels for the N
queries without human labels. The judge's weight is 0 if fewer than 5 of the human values, or of the judge's values,
differ from the most common value. The sampling unit is the query, so several answers to a query are averaged first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.prediction_powered import DIFFERENT_AT_LEAST, Bounded, Powered, different, powered

METHOD = "prediction-powered, power-tuned (PPI++)"
COVERS_FROM = 50
"""With at least this many labelled queries, coverage in simulations is 95 ± 1.5% (benchmarks/judge_intervals.py)."""
# Larger correlations have an infinite Fisher's z, except for rounding.
LARGEST_R = 1 - 1e-12


class Estimate(NamedTuple):
    """Estimates (...), and each query's influence on them (..., n). An estimate's variance is var(influences) / n."""

    value: Array
    influences: Array


def powered_mean(people: Array, judge: Array, others: Array) -> Powered:
    """Estimate a mean over all queries; ``people`` (..., n) contains the values for the queries with human labels.

    ``judge`` (..., n) contains the values from the judge's labels for the same queries, and ``others`` (..., N) the
    judge's values for all other queries; n >= 2 and N >= 2. Intervals use Student's t with n - 1 degrees of freedom. If
    all human values are 0 or 1, intervals are Wilson's (1927), with t instead of the normal quantile: the variance is
    assumed to be proportional to m (1 - m) for a mean m, so coverage holds even if 0 or 1 is rare.
    """
    estimates = [Estimate(column.mean(axis=-1), column) for column in (people, judge, others)]
    found = _powered(estimates, _varied(people, judge))
    binary = np.isin(people, (0.0, 1.0)).all(axis=-1)
    n, added = people.shape[-1], found.weight**2 * others.var(axis=-1, ddof=1) / others.shape[-1]
    squares = [((high - low) / 2 / special.stdtrit(n - 1, 0.975)) ** 2
               for low, high in ((found.low, found.high), (found.alone_low, found.alone_high))]  # fmt: skip
    low, high = _wilson(found.value, squares[0] - added, added, found.alone, n)
    alone_low, alone_high = _wilson(found.alone, squares[1], np.zeros_like(added), found.alone, n)
    wilson = found._replace(low=low, high=high, alone_low=alone_low, alone_high=alone_high)
    return Powered(*(np.where(binary, of_binary, of_real) for of_binary, of_real in zip(wilson, found, strict=True)))


def _wilson(value: Array, variance: Array, added: Array, share: Array, n: int) -> tuple[Array, Array]:
    """Solve |value - m| = t sqrt(``variance`` m (1 - m) / (share (1 - share)) + ``added``) for both values of m."""
    squared = special.stdtrit(n - 1, 0.975) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        part = squared * np.nan_to_num(variance / (share * (1.0 - share)), posinf=0.0)
    value = np.clip(value, 0.0, 1.0)
    middle = (2.0 * value + part) / 2.0
    reach = np.sqrt(np.maximum(middle**2 - (1.0 + part) * (value**2 - squared * added), 0.0))
    return (middle - reach) / (1.0 + part), (middle + reach) / (1.0 + part)


def _varied(people: Array, judge: Array) -> Array:
    return np.asarray(np.minimum(different(people), different(judge)) >= DIFFERENT_AT_LEAST)


def powered_correlation(
    people: tuple[Array, Array], judge: tuple[Array, Array], others: tuple[Array, Array]
) -> Powered:
    """Estimate Pearson's r between two variables over all queries; each argument is a pair of arrays, one per variable.

    The estimate uses Fisher's z; each query's influence is its jackknife pseudo-value. Requires at least 4 queries with
    and 4 without human labels; neither variable may be constant.
    """
    found = _powered([_fisher_z(x, y) for x, y in (people, judge, others)], _varied(people[0], judge[0]))
    return Powered(*(np.tanh(value) if name != "weight" else value for name, value in found._asdict().items()))


def _fisher_z(x: Array, y: Array) -> Estimate:
    n = x.shape[-1]
    x, y = (column - column.mean(axis=-1, keepdims=True) for column in (x, y))
    products = [x, y, x * x, y * y, x * y]
    whole = _z(n, *(product.sum(axis=-1, keepdims=True) for product in products))
    left_out = _z(n - 1, *(product.sum(axis=-1, keepdims=True) - product for product in products))
    return Estimate(whole[..., 0], (n - 1) * (whole - left_out))


def _z(n: int, x: Array, y: Array, xx: Array, yy: Array, xy: Array) -> Array:
    """Compute Fisher's z of Pearson's r from sums."""
    with np.errstate(
        invalid="ignore", divide="ignore"
    ):  # a column that is constant except for one query gets no weight
        r = (xy - x * y / n) / np.sqrt((xx - x * x / n) * (yy - y * y / n))
    return np.arctanh(np.clip(r, -LARGEST_R, LARGEST_R))


def _powered(estimates: Sequence[Estimate], varied: Array) -> Powered:
    """Combine estimates from people, from the judge on their queries and on others; if not ``varied``, weight 0."""
    people, judge, others = estimates
    n, more = people.influences.shape[-1], others.influences.shape[-1]
    p, j, rest = (part.influences - part.influences.mean(axis=-1, keepdims=True) for part in (people, judge, others))
    together, spread = (p * j).sum(axis=-1) / (n - 1), (j * j).sum(axis=-1) / (n - 1)
    unlabelled = (rest * rest).sum(axis=-1) / (more - 1) / more

    def tuned(weight: Array) -> Bounded:
        own = p - weight[..., None] * j
        # Fitting the weight to the labelled queries costs one degree of freedom.
        error = np.sqrt((own * own).sum(axis=-1) / (n - 2) / n + weight**2 * unlabelled)
        return bounded(people.value + weight * (others.value - judge.value), error)

    def bounded(value: Array, error: Array) -> Bounded:
        reach = special.stdtrit(n - 1, 0.975) * error
        return value, value - reach, value + reach

    alone = bounded(people.value, np.sqrt((p * p).sum(axis=-1) / (n - 1) / n))
    return powered(together / n, spread / n + unlabelled, tuned, alone, varied)
