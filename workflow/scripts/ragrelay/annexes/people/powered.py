"""Estimate means, differences and slopes from human scores of some answers and a scorer's scores of all answers.

The method is described in analysis/prediction_powered.py. Let y be a cell's mean human score, with each answer weighted
by the inverse of its probability of being drawn; f the scorer's mean over the same answers with the same weights; and F
the scorer's mean over all the cell's answers. The cell's estimate is y + w (F - f), where w is the scorer's weight. A
difference between two cells is estimated as the difference between the cells' estimates, with the same w.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragrelay.analysis import prediction_powered
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.mean_tests import SKEWNESS, Means
from ragrelay.analysis.prediction_powered import Bounded, Powered

METHOD = "prediction-powered (PPI++) over sums of clusters; Student's t and Hall's, the more cautious"
LABELS_AT_LEAST, QUERIES_AT_LEAST = 40, 12
"""Minimum human scores, and minimum queries with a human score, for an interval."""
OF_CELL_AT_LEAST, DIFFERENT_OF_CELL = 20, 3
"""Minimum scores in each of two compared cells for an interval, and minimum that differ from the commonest score."""
LABELS_OF_SLOPE = 80
"""Minimum human scores for a slope's interval."""


class PartlyScored(NamedTuple):
    """Scores of answers, as arrays (..., queries, columns) with a column per cell and seed.

    ``people`` is NaN if there is no human score, and ``scorer`` is NaN if there is no answer. ``weights``: 1 divided by
    the probability that the answer was drawn for people to score.
    """

    people: Array
    scorer: Array
    weights: Array

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """A mask of the answers that have both a human score and a score from the scorer."""
        return np.isfinite(self.people) & np.isfinite(self.scorer)


class Influences(NamedTuple):
    """An estimate from human scores alone, its change if the scorer has weight 1, and each cluster's influence on both.

    ``alone`` (the estimate) and ``more`` (the change) have shape (...), the other arrays (..., clusters). ``parts``:
    the variance due to each cluster's human scores, assuming that scores are independent.
    """

    alone: Array
    more: Array
    of_people: Array
    of_scorer: Array
    parts: Array

    @property
    def df(self) -> Array:
        """Degrees of freedom: the effective number of clusters minus 1."""
        df: Array = self.parts.sum(axis=-1) ** 2 / (self.parts**2).sum(axis=-1) - 1.0
        return df


def influences(
    answers: PartlyScored, contrast: Sequence[Sequence[float]], cluster: npt.NDArray[np.intp], x: Array | None = None
) -> Influences:
    """Compute each cluster's influence on a weighted sum of the cells' means, or of the cells' slopes on ``x``.

    Args:
        answers: The answers' scores.
        contrast: A row per cell, with the cell's weight (such as 1 or -1) in the cell's columns and 0 in all others.
        cluster: Each query's cluster number, an array (queries,).
        x: The predictor for slopes, an array (..., queries); must vary over each cell's queries with human scores."""
    known, there = answers.known, np.isfinite(answers.scorer)
    zero = np.zeros((*known.shape[:-2], int(cluster.max()) + 1))
    alone, more, of_people, of_scorer, spread = zero[..., 0], zero[..., 0], zero, zero, zero
    for row in contrast:
        factors = np.asarray(row)
        columns = np.flatnonzero(factors)
        factor = float(factors[columns[0]])
        y, f = (np.nan_to_num(values[..., columns]) for values in (answers.people, answers.scorer))
        u = np.where(known[..., columns], answers.weights[..., columns], 0.0)
        u = u / u.sum(axis=(-2, -1), keepdims=True)
        v = there[..., columns] / there[..., columns].sum(axis=(-2, -1), keepdims=True)
        (by_people, own, parts), (on_known, of_known, _), (on_all, of_all, _) = (
            _mean_parts(*pair) if x is None else _slope_parts(*pair, x) for pair in ((u, y), (u, f), (v, f))
        )
        alone, more = alone + factor * by_people, more + factor * (on_all - on_known)
        of_people = of_people + factor * _by_cluster(own, cluster)
        of_scorer = of_scorer + factor * _by_cluster(of_all - of_known, cluster)
        spread = spread + factor**2 * _by_cluster(parts, cluster)
    return Influences(alone, more, of_people, of_scorer, spread)


def _mean(weights: Array, values: Array) -> Array:
    mean: Array = (weights * values).sum(axis=(-2, -1), keepdims=True)
    return mean


def _mean_parts(weights: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return the mean of ``y``, each value's influence, and the square of its weight in the mean."""
    mean = _mean(weights, y)
    return mean[..., 0, 0], weights * (y - mean), weights**2


def _slope_parts(weights: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return the weighted least-squares slope of ``y`` on ``x``, influences and squared weights, like _mean_parts.

    Influences are residuals divided by 1 minus their leverage, as in a jackknife.
    """
    column = np.broadcast_to(x[..., None], y.shape)
    u = column - _mean(weights, column)
    square = _mean(weights, u * u)
    part = weights * u / square
    slope = (part * y).sum(axis=(-2, -1))
    residuals = y - _mean(weights, y) - slope[..., None, None] * u
    leverage = np.minimum(weights + part * u, 0.99)
    return slope, part * residuals / (1.0 - leverage), part**2


def _by_cluster(values: Array, cluster: npt.NDArray[np.intp]) -> Array:
    """Sum ``values`` (..., queries, columns) over columns and over each cluster's queries."""
    sums, count = values.sum(axis=-1), int(cluster.max()) + 1
    if count == len(cluster):
        return sums[..., np.argsort(cluster)]
    return sums @ np.eye(count)[cluster]


def powered(given: Influences) -> Powered:
    """Choose the scorer's weight: the optimal weight if it narrows the interval, otherwise 0 (human scores alone)."""
    a, b = given.of_people, given.of_scorer

    def tuned(weight: Array) -> Bounded:
        means = means_of(given, weight)
        return means.mean, *means.interval()

    alone = tuned(np.zeros_like(given.alone))
    return prediction_powered.powered(-(a * b).sum(axis=-1), (b * b).sum(axis=-1), tuned, alone)


def means_of(given: Influences, weight: Array) -> Means:
    """Return the moments of the clusters' pseudo-values. ``weight`` (...): the scorer's weight."""
    of_clusters, df = given.of_people + weight[..., None] * given.of_scorer, given.df
    n = of_clusters.shape[-1]
    square = (of_clusters**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):  # where nothing varies, the caller gives no interval
        skewness = np.nan_to_num(np.sqrt(n) * (of_clusters**3).sum(axis=-1) / square**1.5)
    scored = (given.parts > 0).sum(axis=-1)
    # As in a paired test of the queries with scores. Fitting the weight takes a degree of freedom.
    unbiased = np.sqrt(scored / np.maximum(scored - 1.0, 1.0))
    fitted = np.where(weight == 0.0, 1.0, np.sqrt(df / np.maximum(df - 1.0, 1.0)))
    deviation = unbiased * fitted * np.sqrt(n * square)
    return Means(given.alone + weight * given.more, deviation, SKEWNESS * skewness, n, df)
