"""Power-tuned prediction-powered intervals: a quantity over all queries from few people's labels and many of a judge.

Source: PPI++ (Angelopoulos, Duchi and Zrnic, 2023, arXiv 2311.01453). With the estimate t of a quantity from people's
labels of the n labelled queries, that from the judge's labels of the same queries (j) and of the N others (J), the
estimate is t + w (J - j), unbiased whatever the judge is worth as long as the labelled queries are a random sample.
The weight w minimises the estimated variance (their section 6). It is 0 where the interval would still be wider than
that of people's labels alone, as that of the untuned form, w = 1, can be, and where fewer than 5 labelled queries
differ from the most common value, by people's labels or by the judge's. The unit is the query.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from ragrelay.analysis.coefficients import Array

METHOD = "prediction-powered, power-tuned (PPI++)"
COVERS_FROM = 50
"""Labelled queries from which intervals cover 95 ± 1.5% in simulations (benchmarks/judge_intervals.py)."""
DIFFERENT_AT_LEAST = 5
"""Queries whose value is not the most common one."""
# Fisher's z of a correlation beyond it is infinite but for rounding.
LARGEST_R = 1 - 1e-12


class Powered(NamedTuple):
    """An estimate with its 95% interval, the judge's weight, and the interval from people's labels alone; all (...)."""

    value: Array
    low: Array
    high: Array
    weight: Array
    alone: Array
    alone_low: Array
    alone_high: Array


class Estimate(NamedTuple):
    """An estimate (...) and what each query adds to it, (..., n): their variance over n is that of the estimate."""

    value: Array
    influences: Array


def powered_mean(people: Array, judge: Array, others: Array) -> Powered:
    """The mean over all queries of what people's labels give: ``people`` and ``judge`` (..., n), ``others`` (..., N).

    ``judge``: the same of the judge's labels of the labelled queries, ``others``: of the other queries. Intervals are
    Student's t with n - 1 degrees of freedom. Where people's values are 0 or 1 they are Wilson's (1927), with t in the
    place of the normal quantile: if their mean is m, the labelled queries' part of the variance is in proportion to
    m (1 - m), which keeps the interval right where 0 or 1 is rare. Needs n >= 2 and N >= 2.
    """
    estimates = [Estimate(column.mean(axis=-1), column) for column in (people, judge, others)]
    powered = _powered(estimates, _varied(people, judge))
    binary = np.isin(people, (0.0, 1.0)).all(axis=-1)
    n, added = people.shape[-1], powered.weight**2 * others.var(axis=-1, ddof=1) / others.shape[-1]
    squares = [((high - low) / 2 / special.stdtrit(n - 1, 0.975)) ** 2
               for low, high in ((powered.low, powered.high), (powered.alone_low, powered.alone_high))]  # fmt: skip
    low, high = _wilson(powered.value, squares[0] - added, added, powered.alone, n)
    alone_low, alone_high = _wilson(powered.alone, squares[1], np.zeros_like(added), powered.alone, n)
    wilson = powered._replace(low=low, high=high, alone_low=alone_low, alone_high=alone_high)
    return Powered(*(np.where(binary, one, other) for one, other in zip(wilson, powered, strict=True)))


def _wilson(value: Array, variance: Array, added: Array, share: Array, n: int) -> tuple[Array, Array]:
    """The m for which |value - m| is t times the root of ``variance`` m (1 - m) / (share (1 - share)) + ``added``."""
    squared = special.stdtrit(n - 1, 0.975) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        part = squared * np.nan_to_num(variance / (share * (1.0 - share)), posinf=0.0)
    value = np.clip(value, 0.0, 1.0)
    middle = (2.0 * value + part) / 2.0
    reach = np.sqrt(np.maximum(middle**2 - (1.0 + part) * (value**2 - squared * added), 0.0))
    return (middle - reach) / (1.0 + part), (middle + reach) / (1.0 + part)


def different(values: Array) -> Array:
    """How many of ``values`` (..., n) are not the most common one."""
    ordered = np.sort(values, axis=-1)
    most = np.ones(values.shape[:-1], dtype=int)
    length = most.copy()
    for place in range(1, values.shape[-1]):
        length = np.where(ordered[..., place] == ordered[..., place - 1], length + 1, 1)
        most = np.maximum(most, length)
    return np.asarray(values.shape[-1] - most)


def _varied(people: Array, judge: Array) -> Array:
    return np.asarray(np.minimum(different(people), different(judge)) >= DIFFERENT_AT_LEAST)


def powered_correlation(
    people: tuple[Array, Array], judge: tuple[Array, Array], others: tuple[Array, Array]
) -> Powered:
    """Pearson's r over all queries: pairs of columns as in powered_mean, a measure from labels and what it follows.

    On the scale of Fisher's z; each query's influence is its pseudo-value of the jackknife. Needs n >= 4 and N >= 4,
    and columns that are not constant.
    """
    powered = _powered([_fisher_z(x, y) for x, y in (people, judge, others)], _varied(people[0], judge[0]))
    return Powered(*(np.tanh(value) if name != "weight" else value for name, value in powered._asdict().items()))


def _fisher_z(x: Array, y: Array) -> Estimate:
    n = x.shape[-1]
    x, y = (column - column.mean(axis=-1, keepdims=True) for column in (x, y))
    products = [x, y, x * x, y * y, x * y]
    whole = _z(n, *(product.sum(axis=-1, keepdims=True) for product in products))
    left_out = _z(n - 1, *(product.sum(axis=-1, keepdims=True) - product for product in products))
    return Estimate(whole[..., 0], (n - 1) * (whole - left_out))


def _z(n: int, x: Array, y: Array, xx: Array, yy: Array, xy: Array) -> Array:
    """Fisher's z of Pearson's r, from sums."""
    with np.errstate(invalid="ignore", divide="ignore"):  # constant without one query: no weight
        r = (xy - x * y / n) / np.sqrt((xx - x * x / n) * (yy - y * y / n))
    return np.arctanh(np.clip(r, -LARGEST_R, LARGEST_R))


def _powered(estimates: Sequence[Estimate], varied: Array) -> Powered:
    """Combine estimates by people, by the judge on the same queries, and on the others; ``varied``: with a weight."""
    people, judge, others = estimates
    n, more = people.influences.shape[-1], others.influences.shape[-1]
    p, j, rest = (part.influences - part.influences.mean(axis=-1, keepdims=True) for part in (people, judge, others))
    together, spread = (p * j).sum(axis=-1) / (n - 1), (j * j).sum(axis=-1) / (n - 1)
    unlabelled = (rest * rest).sum(axis=-1) / (more - 1) / more
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.nan_to_num(together / n / (spread / n + unlabelled), posinf=0.0, neginf=0.0)
    own = p - weight[..., None] * j
    # The weight is fitted to the labelled queries, which takes a degree of freedom.
    error = np.sqrt((own * own).sum(axis=-1) / (n - 2) / n + weight**2 * unlabelled)
    alone = np.sqrt((p * p).sum(axis=-1) / (n - 1) / n)
    used = (error < alone) & varied
    weight, error = np.where(used, weight, 0.0), np.where(used, error, alone)
    reach = special.stdtrit(n - 1, 0.975)
    value = people.value + weight * (others.value - judge.value)
    low, high = value - reach * error, value + reach * error
    return Powered(value, low, high, weight, people.value, people.value - reach * alone, people.value + reach * alone)
