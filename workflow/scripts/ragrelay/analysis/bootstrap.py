"""Compute BCa bootstrap intervals for correlation coefficients, widened for small samples.

Plain BCa intervals are too short with few queries: at n = 43, a 95% interval covers the true value about 93% of the
time. This module therefore expands the interval's percentile levels, using Student's t (Hesterberg 2015). Studentised
intervals on Fisher's z have no better coverage, and a single outlier can stretch them to nearly [-1, 1].
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis import coefficients
from ragrelay.analysis.coefficients import Array

METHOD = "bootstrap BCa, expanded"
STATISTICS = {
    "pearson": coefficients.pearson,
    "spearman": coefficients.spearman,
    "kendall": coefficients.kendall,
}

NO_NAMES: Mapping[str, Array] = MappingProxyType({})
# Values per chunk of resamples (16 MiB), which limits memory at any n.
CHUNK = 2**21
# Resamples whose sums are computed at a time: few enough to fit in the processor's cache.
ROWS = 256
RANKED_ROWS = 512
# If a larger share of resamples has a constant column, the rest don't represent the sampling distribution.
UNDEFINED_AT_MOST = 0.05


class Interval(NamedTuple):
    """A confidence interval. If there is no interval, low and high are None and ``reason`` says why."""

    low: float | None
    high: float | None
    reason: str | None = None


class Draws(NamedTuple):
    """A statistic's values in the sample, the resamples and the jackknife, for several pairs of columns."""

    values: Array
    """(pairs,): values in the sample."""
    draws: Array
    """(resamples, pairs): values in the resamples."""
    jackknife: Array
    """(n, pairs): values with each query left out in turn."""


def resample_counts(n: int, resamples: int, seed: int) -> Iterator[Array]:
    """Yield bootstrap weights (how often each query is drawn) in chunks of shape (rows, n).

    The chunks have ``resamples`` rows in total, and the rows depend only on ``n`` and ``seed``. Columns of equal length
    therefore get the same resamples, and increasing ``resamples`` only appends rows.
    """
    generator = np.random.default_rng([seed, n])
    rows_at_once = max(1, CHUNK // n)
    for start in range(0, resamples, rows_at_once):
        rows = min(rows_at_once, resamples - start)
        drawn = generator.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def bootstrap_intervals(
    coefficient: str,
    pairs: Sequence[tuple[Array, Array]],
    resamples: int,
    seed: int,
    level: float = 0.95,
    names: Sequence[tuple[str, str]] = (),
) -> list[Interval]:
    """Compute a confidence interval for ``coefficient`` (pearson, spearman or kendall) for each pair of columns.

    ``names`` holds each pair's column names, which are used to explain why an interval is missing. All columns must
    have the same length n, and none may be constant. All pairs use the same resamples of queries. For rank
    coefficients, memory grows with n², so keep n below about 1,000.
    """
    if not pairs:
        return []
    statistic = STATISTICS[coefficient]
    n, named = len(pairs[0][0]), names or [("the first column", "the second column")] * len(pairs)
    values = [float(statistic(np.ones((1, n)), x, y)[0]) for x, y in pairs]
    if coefficient == "pearson":
        _, draws, jackknives = pearson_draws(pairs, resamples, seed)
    else:
        parts = _parts(n, resamples, seed, RANKED_ROWS)
        draws = np.vstack([np.column_stack([statistic(weights, x, y) for x, y in pairs]) for weights in parts])
        jackknives = np.column_stack([leave_one_out(coefficient, x, y) for x, y in pairs])
    return [
        Interval(None, None, "the correlation is perfect, so it is the same in every resample")
        if 1.0 - abs(value) < coefficients.ROUNDING
        else bca_interval(value, drawn, jackknife, level, dict(zip(of_pair, pair, strict=True)))
        for value, drawn, jackknife, pair, of_pair in zip(
            values, np.ascontiguousarray(draws.T), jackknives.T, pairs, named, strict=True
        )
    ]


def pearson_draws(pairs: Sequence[tuple[Array, Array]], resamples: int, seed: int) -> Draws:
    """Compute Pearson's r for each pair of columns: in the sample, in each resample, and with each query left out.

    All pairs use the same resamples of queries. A query with a NaN in either column is left out of the pair's r.
    """
    features = coefficients.pearson_features(pairs)
    values = coefficients.pearson_of_sums(features.sum(axis=0, keepdims=True))[0]
    parts = _parts(len(features), resamples, seed, ROWS)
    draws = np.vstack([coefficients.pearson_of_sums(part @ features) for part in parts])
    return Draws(values, draws, coefficients.pearson_left_out(features))


def _parts(n: int, resamples: int, seed: int, rows: int) -> Iterator[Array]:
    """Yield ``resample_counts`` in chunks of at most ``rows``."""
    for weights in resample_counts(n, resamples, seed):
        yield from np.split(weights, range(rows, len(weights), rows))


def leave_one_out(coefficient: str, x: Array, y: Array) -> Array:
    """Compute the coefficient with each of the n queries left out in turn, as an array (n,)."""
    if coefficient == "pearson":
        return coefficients.pearson_left_out(coefficients.pearson_features([(x, y)]))[:, 0]
    if coefficient == "kendall":
        return coefficients.kendall_left_out(x, y)
    return STATISTICS[coefficient](1.0 - np.eye(len(x)), x, y)


def most_alike(columns: Mapping[str, Array]) -> str:
    """Describe the column with the largest share of equal values, or return "a column" if there are no columns."""
    equal = {name: int(np.unique(column, return_counts=True)[1].max()) for name, column in columns.items()}
    if not equal:
        return "a column"
    name = max(equal, key=lambda name: equal[name] / len(columns[name]))
    return f"{name}, which is the same in {equal[name]:,} of {len(columns[name]):,} rows,"


def _undefined(draws: Array, defined: Array, columns: Mapping[str, Array]) -> Interval:
    often = f"{len(draws) - len(defined):,} of {len(draws):,} resamples"
    return Interval(None, None, f"{most_alike(columns)} is constant in {often}")


def bca_interval(
    value: float, draws: Array, jackknife: Array, level: float = 0.95, columns: Mapping[str, Array] = NO_NAMES
) -> Interval:
    """Compute the BCa interval (bias-corrected and accelerated, Efron 1987, JASA 82) with expanded percentile levels.

    ``value`` is the statistic computed on the sample. ``draws`` (resamples,) holds the value in each resample, and
    ``jackknife`` (n,) the value with each query left out in turn. Undefined values are NaN. ``columns`` is only used to
    explain why there is no interval. Each tail has probability Phi(sqrt(n / (n - 1)) t) instead of (1 - level) / 2,
    where t is the quantile of Student's t with n - 1 degrees of freedom (Hesterberg 2015, The American Statistician
    69). This adjustment is needed because the bootstrap variance is too small by a factor of (n - 1) / n.
    """
    n = len(jackknife)
    defined = draws[np.isfinite(draws)]
    if len(defined) < (1.0 - UNDEFINED_AT_MOST) * len(draws):
        return _undefined(draws, defined, columns)
    bias, acceleration = float(special.ndtri(_below(defined, value))), _acceleration(jackknife)
    tail = _expanded_tail(n, level)
    shifted = bias + np.array([tail, -tail])
    if not np.isfinite(bias) or np.any(1.0 - acceleration * shifted <= 0):
        return Interval(None, None, "the resamples lie on one side of the estimate")
    levels = special.ndtr(bias + shifted / (1.0 - acceleration * shifted))
    low, high = np.quantile(defined, levels)
    return Interval(float(low), float(high))


def percentile_interval(draws: Array, n: int, level: float = 0.95, columns: Mapping[str, Array] = NO_NAMES) -> Interval:
    """Compute the percentile interval from ``draws``, with levels expanded for n queries as in ``bca_interval``."""
    defined = draws[np.isfinite(draws)]
    if len(defined) < (1.0 - UNDEFINED_AT_MOST) * len(draws):
        return _undefined(draws, defined, columns)
    tail = float(special.ndtr(_expanded_tail(n, level)))
    low, high = np.quantile(defined, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def jackknife_error(jackknife: Array) -> float:
    """Compute the jackknife standard error (Tukey 1958; Efron 1982, ch. 3) from leave-one-out values (n,)."""
    n = len(jackknife)
    return float(np.sqrt((n - 1) / n * ((jackknife - jackknife.mean()) ** 2).sum()))


class Tested(NamedTuple):
    """A correlation's 95% interval and p-value (null hypothesis: 0); all fields are None if there is no test."""

    low: float | None
    high: float | None
    p_value: float | None


def fisher_jackknife(value: float, jackknife: Array, degrees: float | None = None) -> Tested:
    """Compute a correlation's 95% interval and p-value on Fisher's z, using the jackknife error and Student's t.

    ``jackknife`` (n,) holds the correlation with each query, or each cluster of queries, left out in turn. The results
    are None if the correlation is perfect, if any value in ``jackknife`` is undefined, or if all values are equal.
    """
    if 1.0 - abs(value) < coefficients.ROUNDING or not np.isfinite(jackknife).all():
        return Tested(None, None, None)
    n, centre = len(jackknife), float(np.arctanh(value))
    error = jackknife_error(np.arctanh(np.clip(jackknife, -1.0 + coefficients.ROUNDING, 1.0 - coefficients.ROUNDING)))
    if not error > coefficients.ROUNDING:
        return Tested(None, None, None)
    degrees = n - 1 if degrees is None else degrees
    reach = float(special.stdtrit(degrees, 0.975)) * error
    low, high = (float(np.tanh(centre + side * reach)) for side in (-1, 1))
    return Tested(low, high, float(2.0 * special.stdtr(degrees, -abs(centre) / error)))


def without_each(coefficient: str, x: Array, y: Array, cluster: npt.NDArray[np.intp]) -> Array:
    """Compute the coefficient of ``x`` and ``y`` (n,) with each of the C clusters left out, as an array (C,)."""
    clusters, of_query = np.unique(cluster, return_inverse=True)
    return STATISTICS[coefficient]((of_query != np.arange(len(clusters))[:, None]).astype(np.float64), x, y)


@cache
def _expanded_tail(n: int, level: float) -> float:
    return float(np.sqrt(n / (n - 1)) * special.stdtrit(n - 1, (1.0 - level) / 2))


def _below(draws: Array, value: float) -> float:
    """Return the share of ``draws`` below ``value``; draws that equal it up to rounding count half."""
    ties = np.abs(draws - value) <= coefficients.ROUNDING
    return float((np.count_nonzero((draws < value) & ~ties) + ties.sum() / 2) / len(draws))


def _acceleration(jackknife: Array) -> float:
    deviations = jackknife[np.isfinite(jackknife)]
    deviations = deviations.mean() - deviations
    squares = float(deviations @ deviations)
    return float((deviations**3).sum() / (6.0 * squares**1.5)) if squares > 0 else 0.0
