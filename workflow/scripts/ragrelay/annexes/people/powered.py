"""Estimate by people's scores of some answers and a scorer's scores of all: prediction-powered means and differences.

The method is power-tuned PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453) with influences summed over the
clusters of queries. Let y be people's mean score of the answers of a cell that they scored, weighted by the inverse of
the probability that each was drawn with, f the scorer's mean of the same answers with the same weights, and F the
scorer's mean of all answers. The cell's estimate is y + w (F - f), and that of a difference is the difference of two
cells' estimates with one w. It is unbiased however good the scorer is, as long as the probabilities are right. w
minimises the estimated variance (their section 6).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.mean_tests import SKEWNESS, Means

METHOD = "prediction-powered (PPI++) over sums of clusters; Student's t and Hall's, the more cautious"
LABELS_AT_LEAST, QUERIES_AT_LEAST, DIFFERENT_AT_LEAST = 40, 12, 5
"""An interval needs so many scores by people, so many queries with one, and so many that aren't the commonest."""
OF_CELL_AT_LEAST, DIFFERENT_OF_CELL = 20, 3
"""An interval of two cells needs so many scores of each, and so many of each that aren't its commonest."""
LABELS_OF_SLOPE = 80
"""An interval of a slope needs so many scores by people."""


class PartlyScored(NamedTuple):
    """Scores of the answers to some queries, all (..., queries, columns): a column per cell and seed.

    ``people`` is NaN where people did not score, ``scorer`` where there is no answer; ``weights`` are the inverse of
    the probabilities of being drawn.
    """

    people: Array
    scorer: Array
    weights: Array

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which answers people scored, and the scorer too."""
        return np.isfinite(self.people) & np.isfinite(self.scorer)


class Influences(NamedTuple):
    """An estimate by people alone, what a weight of 1 of the scorer adds, and each cluster's influence on both.

    ``alone`` and ``more`` (...), ``of_people`` and ``of_scorer`` (..., clusters); ``parts`` (..., clusters): the
    variance that a cluster's scores by people add if they are independent.
    """

    alone: Array
    more: Array
    of_people: Array
    of_scorer: Array
    parts: Array


class PoweredEstimate(NamedTuple):
    """An estimate (...) with its 95% interval and p-value of 0, and ``alone``, that by people's scores alone."""

    value: Array
    low: Array
    high: Array
    p_value: Array
    weight: Array
    alone: Array
    alone_low: Array
    alone_high: Array
    df: Array


def influences(answers: PartlyScored, contrast: Sequence[Sequence[float]], cluster: npt.NDArray[np.intp]) -> Influences:
    """Return the Influences on a sum of cells' means. ``contrast``: a row per cell with the factor of each column.

    ``cluster`` (queries,) numbers the cluster of each query.
    """
    count = int(cluster.max()) + 1
    known, there = answers.known, np.isfinite(answers.scorer)
    parts = [np.zeros(known.shape[:-2])] * 2, [np.zeros((*known.shape[:-2], count))] * 3
    (alone, more), (of_people, of_scorer, spread) = parts
    for row in contrast:
        factors = np.asarray(row)
        columns = np.flatnonzero(factors)
        factor = float(factors[columns[0]])
        y, f = (np.nan_to_num(values[..., columns]) for values in (answers.people, answers.scorer))
        own, all_there = known[..., columns], there[..., columns]
        u = np.where(own, answers.weights[..., columns], 0.0)
        u = u / u.sum(axis=(-2, -1), keepdims=True)
        v = all_there / all_there.sum(axis=(-2, -1), keepdims=True)
        by_people, on_known, on_all = (_mean(*pair) for pair in ((u, y), (u, f), (v, f)))
        alone = alone + factor * by_people[..., 0, 0]
        more = more + factor * (on_all - on_known)[..., 0, 0]
        of_people = of_people + factor * _by_cluster(u * (y - by_people), cluster, count)
        of_scorer = of_scorer + factor * _by_cluster(v * (f - on_all) - u * (f - on_known), cluster, count)
        spread = spread + factor**2 * _by_cluster(u**2, cluster, count)
    return Influences(alone, more, of_people, of_scorer, spread)


def _mean(weights: Array, values: Array) -> Array:
    mean: Array = (weights * values).sum(axis=(-2, -1), keepdims=True)
    return mean


def _by_cluster(values: Array, cluster: npt.NDArray[np.intp], count: int) -> Array:
    """Sum ``values`` (..., queries, columns) over columns and the queries of each cluster."""
    sums = values.sum(axis=-1)
    if count == len(cluster):
        return sums[..., np.argsort(cluster)]
    return sums @ np.eye(count)[cluster]


def powered(given: Influences) -> PoweredEstimate:
    """Return the estimate with the tuned weight, where it makes the interval narrower, and that by people alone."""
    a, b = given.of_people, given.of_scorer
    with np.errstate(invalid="ignore", divide="ignore"):  # where neither varies, the caller gives no interval
        weight = np.nan_to_num(-(a * b).sum(axis=-1) / (b * b).sum(axis=-1), posinf=0.0, neginf=0.0)
    df = given.parts.sum(axis=-1) ** 2 / (given.parts**2).sum(axis=-1) - 1.0
    # Fitting the weight takes a degree of freedom.
    fitted = np.sqrt(df / np.maximum(df - 1.0, 1.0))
    own = a + weight[..., None] * b
    scored = (given.parts > 0).sum(axis=-1)
    # As in a paired test of the queries with scores.
    unbiased = np.sqrt(scored / np.maximum(scored - 1.0, 1.0))
    plain = _means(given.alone, a, df, unbiased)
    tuned = _means(given.alone + weight * given.more, own, df, unbiased * fitted)
    ends = [means.interval() for means in (plain, tuned)]
    used = ends[1][1] - ends[1][0] < ends[0][1] - ends[0][0]
    low, high = (np.where(used, ends[1][side], ends[0][side]) for side in (0, 1))
    return PoweredEstimate(
        np.where(used, tuned.mean, plain.mean), low, high, np.where(used, tuned.p_value(), plain.p_value()),
        np.where(used, weight, 0.0), plain.mean, *ends[0], df,
    )  # fmt: skip


def _means(value: Array, of_clusters: Array, df: Array, factor: Array) -> Means:
    """Return the moments of the clusters' pseudo-values for tests of verdicts, with SKEWNESS times their skewness.

    ``factor``: on their standard error.
    """
    n = of_clusters.shape[-1]
    square = (of_clusters**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = np.nan_to_num(np.sqrt(n) * (of_clusters**3).sum(axis=-1) / square**1.5)
    deviation = factor * np.sqrt(n * square)
    return Means(value, deviation, SKEWNESS * skewness, n, df)


def different(values: Array) -> int:
    """Count the ``values`` (n,) that differ from the commonest one."""
    _, counts = np.unique(values, return_counts=True)
    return int(len(values) - counts.max()) if len(values) else 0


def slope_influences(
    answers: PartlyScored, contrast: Sequence[Sequence[float]], x: Array, cluster: npt.NDArray[np.intp]
) -> Influences:
    """Return the Influences on a sum of cells' slopes on ``x`` (..., queries), known of all queries.

    With the factors 1 and -1 of two cells this is the slope of their difference on ``x``. A cell's slope is that of
    least squares, weighted. Influences are residuals over 1 less their leverage, as a jackknife has them. Others as
    ``influences``; ``x`` must vary over the queries that people scored in each cell.
    """
    count = int(cluster.max()) + 1
    known, there = answers.known, np.isfinite(answers.scorer)
    zero = np.zeros((*known.shape[:-2], count))
    alone, more, of_people, of_scorer, spread = np.zeros(known.shape[:-2]), np.zeros(known.shape[:-2]), zero, zero, zero
    for row in contrast:
        factors = np.asarray(row)
        columns = np.flatnonzero(factors)
        factor = float(factors[columns[0]])
        y, f = (np.nan_to_num(values[..., columns]) for values in (answers.people, answers.scorer))
        u = np.where(known[..., columns], answers.weights[..., columns], 0.0)
        u = u / u.sum(axis=(-2, -1), keepdims=True)
        v = there[..., columns] / there[..., columns].sum(axis=(-2, -1), keepdims=True)
        by_people, own, parts = _slope(u, x, y)
        on_known, known_parts, _ = _slope(u, x, f)
        on_all, all_parts, _ = _slope(v, x, f)
        alone, more = alone + factor * by_people, more + factor * (on_all - on_known)
        of_people = of_people + factor * _by_cluster(own, cluster, count)
        of_scorer = of_scorer + factor * _by_cluster(all_parts - known_parts, cluster, count)
        spread = spread + factor**2 * _by_cluster(parts, cluster, count)
    return Influences(alone, more, of_people, of_scorer, spread)


def _slope(weights: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the slope of ``y`` on ``x``, each value's influence, and the square of its weight in the slope."""
    column = np.broadcast_to(x[..., None], y.shape)
    u = column - _mean(weights, column)
    square = _mean(weights, u * u)
    part = weights * u / square
    slope = (part * y).sum(axis=(-2, -1))
    residuals = y - _mean(weights, y) - slope[..., None, None] * u
    leverage = np.minimum(weights + part * u, 0.99)
    return slope, part * residuals / (1.0 - leverage), part**2
