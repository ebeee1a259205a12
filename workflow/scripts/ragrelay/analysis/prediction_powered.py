"""Combine a few human labels with many model labels: power-tuned prediction-powered inference (PPI++).

The method is due to Angelopoulos, Duchi and Zrnic (2023, arXiv 2311.01453). Let t be the estimate from human labels, j
the estimate from the model's labels for the same queries, and J the estimate from the model's labels for all other
queries. The estimate t + w (J - j) is unbiased even if the model is poor, provided that people labelled a random sample
with equal or known probabilities. The weight w minimises the estimated variance (section 6 of the paper). The weight is
set to 0 if the model's labels would widen the interval, as they can in the untuned form (w = 1).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ragrelay.analysis.coefficients import Array

DIFFERENT_AT_LEAST = 5
"""Minimum number of labels other than the most common value for an interval, or for the model to have a weight."""
Bounded = tuple[Array, Array, Array]
"""An estimate and the ends of its 95% interval; each of shape (...)."""


class Powered(NamedTuple):
    """An estimate with its 95% interval, the model's weight, and the estimate and interval from human labels alone."""

    value: Array
    low: Array
    high: Array
    weight: Array
    alone: Array
    alone_low: Array
    alone_high: Array


def powered(
    covariance: Array, variance: Array, tuned: Callable[[Array], Bounded], alone: Bounded, usable: Array | bool = True
) -> Powered:
    """Compute the weight of the model's labels, and set it to 0 where these labels don't narrow the interval.

    Args:
        covariance: Covariance of t and j - J, shape (...).
        variance: Variance of j - J, shape (...).
        tuned: Function that takes weights (...) and returns the estimate and the ends of the interval.
        alone: Estimate and interval from human labels alone.
        usable: Whether the model's weight may differ from 0, shape (...).

    Returns:
        The estimate, its interval and the model's weight, which is 0 where the model isn't used.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.nan_to_num(covariance / variance, posinf=0.0, neginf=0.0)
    with_model = tuned(weight)
    used = np.logical_and(with_model[2] - with_model[1] < alone[2] - alone[1], usable)
    value, low, high = (np.where(used, *values) for values in zip(with_model, alone, strict=True))
    return Powered(value, low, high, np.where(used, weight, 0.0), *alone)


def different(values: Array) -> Array:
    """Count the ``values`` (..., n) that differ from the most frequent value; n must be at least 1."""
    ordered = np.sort(values, axis=-1)
    most = np.ones(values.shape[:-1], dtype=int)
    length = most.copy()
    for place in range(1, values.shape[-1]):
        length = np.where(ordered[..., place] == ordered[..., place - 1], length + 1, 1)
        most = np.maximum(most, length)
    return np.asarray(values.shape[-1] - most)
