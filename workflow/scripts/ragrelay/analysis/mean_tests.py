"""Test mean differences with both Student's t and Hall's test, and base verdicts on the more cautious result.

If differences are skewed and queries are few, Student's t rejects too often on the side of the short tail. Hall's
transformation removes the skewness, but rejects slightly too often if a single query causes the skewness. For a
verdict, both tests must therefore reject on the same side; this rule keeps the nominal level on all data that we tried.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis import verdicts
from ragrelay.analysis.clusters import effective_number
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import CONSTANT

METHOD = "Student's t and Hall's, the more cautious"
METHOD_OF_CLUSTERS = f"{METHOD}, over sums of clusters"
SKEWNESS = 1.75
"""Factor on the skewness in tests for verdicts, because a small sample underestimates skewness."""
# Below this |skewness|, Hall's transformation is the identity up to rounding.
NO_SKEWNESS = 1e-8
Number = TypeVar("Number", float, Array)
BISECTIONS = 50
LARGEST_RATIO = 1e6
# A moment is a difference between sums. Below this share of them, it is computed from residuals, to avoid cancellation.
CANCELLED = 1e-8


def statistics(t: Number, g: Number, n: int) -> tuple[Number, Number]:
    """Compute Student's t and Hall's statistic for a mean.

    Both have n - 1 degrees of freedom. ``t`` is T = (mean - null) / deviation, and ``g`` is the skewness. Hall's
    statistic is sqrt(n) (T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n)), which increases with T (Hall 1992, JRSS B 54).
    """
    scale = math.sqrt(n)
    return scale * t, scale * (t + g * t**2 / 3 + g**2 * t**3 / 27 + g / (6 * n))


class Means(NamedTuple):
    """The means, standard deviations (n - 1) and skewnesses (columns,) of several columns with n values each.

    ``degrees``: degrees of freedom for Student's t; None means n - 1.
    """

    mean: Array
    deviation: Array
    skewness: Array
    n: int
    degrees: Array | None = None

    @property
    def df(self) -> int | Array:
        """The degrees of freedom."""
        return self.n - 1 if self.degrees is None else self.degrees

    @classmethod
    def of(cls, columns: Array) -> "Means":
        """Compute the moments of ``columns`` (n, columns), none of which may be constant."""
        centred = columns - columns.mean(axis=0)
        skewness = (centred**3).mean(axis=0) / (centred**2).mean(axis=0) ** 1.5
        return cls(columns.mean(axis=0), columns.std(axis=0, ddof=1), skewness, len(columns))

    @classmethod
    def cautious(cls, columns: Array) -> "Means":
        """Compute the moments of ``columns`` (n, columns) for a verdict, with the skewness multiplied by SKEWNESS."""
        means = cls.of(columns)
        return means._replace(skewness=SKEWNESS * means.skewness)

    def p_greater(self, null: float = 0.0) -> Array:
        """Return one-sided p-values for the alternative hypothesis "the mean is above ``null``"."""
        return np.maximum(*(special.stdtr(self.df, -statistic) for statistic in self._statistics(null)))

    def p_less(self, null: float = 0.0) -> Array:
        """Return one-sided p-values for the alternative hypothesis "the mean is below ``null``"."""
        return np.maximum(*(special.stdtr(self.df, statistic) for statistic in self._statistics(null)))

    def p_value(self, null: float = 0.0) -> Array:
        """Return two-sided p-values; they are below 0.05 where the 95% interval excludes ``null``."""
        return np.minimum(1.0, 2.0 * np.minimum(self.p_greater(null), self.p_less(null)))

    def p_student(self) -> float:
        """Return one column's two-sided p-value from Student's t alone."""
        return 2.0 * float(special.stdtr(self.df, -np.abs(self._statistics(0.0)[0]))[0])

    def p_hall(self, null: float = 0.0) -> Array:
        """Return two-sided p-values from Hall's test alone."""
        return 2.0 * special.stdtr(self.df, -np.abs(self._statistics(null)[1]))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends of the smallest interval that contains the intervals from both tests."""
        reach = special.stdtrit(self.df, (1.0 + level) / 2) / np.sqrt(self.n)
        low, high = np.maximum(reach, self._untransformed(reach)), np.minimum(-reach, self._untransformed(-reach))
        return self.mean - low * self.deviation, self.mean - high * self.deviation

    def _statistics(self, null: float) -> tuple[Array, Array]:
        return statistics((self.mean - null) / self.deviation, self.skewness, self.n)

    def _untransformed(self, value: Any) -> Array:
        """Return the T for which Hall's statistic, divided by sqrt(n), is ``value``."""
        plain = np.abs(self.skewness) < NO_SKEWNESS
        g = np.where(plain, 1.0, self.skewness)
        return np.where(plain, value, 3.0 / g * (np.cbrt(1.0 + g * (value - g / (6 * self.n))) - 1.0))


class ClusterMeans(NamedTuple):
    """A column's sum and the number of queries in each cluster (clusters,), for testing the column's mean over queries.

    To test whether the mean is ``null``, null × size is subtracted from each sum. Under the null hypothesis, the
    differences have mean 0. Hall's test multiplies the skewness by SKEWNESS. The effective number of clusters is n_eff
    = (sum of sizes)² / sum of squared sizes. Student's t has n_eff - 1 degrees of freedom.
    """

    sums: Array
    sizes: Array

    @classmethod
    def of(cls, column: Array, cluster: npt.NDArray[np.intp]) -> "ClusterMeans":
        """Sum ``column`` (n,) within clusters; ``cluster`` (n,) is the index of each query's cluster."""
        sizes = np.bincount(cluster)
        sums: Array = np.bincount(cluster, column).astype(np.float64)
        return cls(sums[sizes > 0], sizes[sizes > 0].astype(np.float64))

    @property
    def counted(self) -> Array:
        """Each cluster's sum (clusters,), set to 0 if it differs from 0 only by rounding."""
        return np.where(np.abs(self.sums) > CONSTANT * self.sizes, self.sums, 0.0)

    @property
    def effective(self) -> float:
        """The effective number of clusters, n_eff."""
        return effective_number(self.sizes)

    @property
    def error(self) -> float:
        """The standard error of the mean over queries, estimated as for a ratio of sums over clusters."""
        count, mean = len(self.sums), self.sums.sum() / self.sizes.sum()
        residuals = self.sums - mean * self.sizes
        return float(np.sqrt(count / (count - 1) * (residuals**2).sum()) / self.sizes.sum())

    def p_greater(self, null: float = 0.0) -> Array:
        """Return the one-sided p-value (1,) for the alternative hypothesis "the mean is above ``null``"."""
        return np.array([max(self._below(-statistic) for statistic in self._statistics(null))])

    def p_less(self, null: float = 0.0) -> Array:
        """Return the one-sided p-value (1,) for the alternative hypothesis "the mean is below ``null``"."""
        return np.array([max(self._below(statistic) for statistic in self._statistics(null))])

    def p_value(self, null: float = 0.0) -> Array:
        """Return the two-sided p-value (1,), which is below 0.05 where the 95% interval excludes ``null``."""
        return np.minimum(1.0, 2.0 * np.minimum(self.p_greater(null), self.p_less(null)))

    def p_student(self) -> float:
        """Return the two-sided p-value from Student's t alone."""
        return 2.0 * self._below(-abs(self._statistics(0.0)[0]))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends (1,) of the interval of means that the two-sided test doesn't reject, or NaN if unbounded."""
        ends = ratio_interval(self.sums, self.sizes, skewness=SKEWNESS, degrees=self.effective - 1, level=level)
        return (np.array([np.nan]),) * 2 if ends is None else (np.array(ends[:1]), np.array(ends[1:]))

    def _statistics(self, null: float) -> tuple[float, float]:
        return _statistics_of_ratio(self.sums, self.sizes, SKEWNESS)(null)

    def _below(self, statistic: float) -> float:
        return float(special.stdtr(self.effective - 1, statistic))


def cautious(column: Array, cluster: npt.NDArray[np.intp] | None = None) -> Means | ClusterMeans:
    """Compute the moments of ``column`` (n,) for a verdict's test, allowing for clusters of queries (``cluster``).

    P-values and interval ends computed from these moments have shape (1,).
    """
    return Means.cautious(column[:, None]) if cluster is None else ClusterMeans.of(column, cluster)


def few(differences: Array, cluster: npt.NDArray[np.intp] | None = None) -> str | None:
    """Return why ``differences`` (n,) are too few for a verdict, or None if there are enough."""
    if cluster is None:
        return verdicts.few(differences)
    of_clusters = ClusterMeans.of(differences, cluster)
    return verdicts.few(of_clusters.counted, of_clusters.effective, ("cluster", "clusters"))


def enough(differences: Array, cluster: npt.NDArray[np.intp] | None = None) -> bool:
    """Return whether there are enough ``differences`` (n,) for a verdict."""
    return few(differences, cluster) is None


def end(value: float) -> float | None:
    """Convert an interval's end to a float, or to None if the interval is unbounded."""
    return float(value) if np.isfinite(value) else None


def unbounded(low: float | None, column: Array, cluster: npt.NDArray[np.intp] | None) -> str | None:
    """Return why the interval for the mean of ``column`` (n,) is unbounded, or None if ``low`` is a number."""
    if low is not None or cluster is None:
        return None
    effective = ClusterMeans.of(column, cluster).effective
    return f"the interval is unbounded, because there are only {effective:.1f} effective clusters of queries"


def ratio_interval(
    above: Array,
    below: Array,
    limit: float = np.inf,
    skewness: float = 1.0,
    degrees: float | None = None,
    level: float = 0.95,
    inflation: float = 1.0,
) -> tuple[float, float] | None:
    """Compute Fieller's interval (1954) for the ratio of two paired columns' means, based on this module's tests.

    The interval contains the ratios between -``limit`` and ``limit`` for which the tests don't reject a mean of 0 for
    ``above`` - ratio × ``below``. If ``above`` - ratio × ``below`` is nonzero and the same for all queries, the ratio
    is rejected. Hall's test uses the sample skewness multiplied by ``skewness``. Returns None if the interval is
    unbounded, for example because the mean of ``below`` doesn't differ significantly from 0. ``degrees``: degrees of
    freedom of Student's distribution, by default n - 1. ``inflation``: factor by which the variance is multiplied.
    """
    of_ratio, n = _statistics_of_ratio(above, below, skewness, inflation), len(above)
    quantile = float(special.stdtrit(n - 1 if degrees is None else degrees, (1.0 + level) / 2))
    centre = float(above.mean() / below.mean())
    ends: list[float] = []
    for direction in (-1.0, 1.0):

        def rejected(ratio: float, direction: float = direction) -> bool:
            student, hall = of_ratio(ratio)
            return -direction * student > quantile and -direction * hall > quantile

        inside, step = centre, max(abs(centre), 1.0) / 16
        while not rejected(inside + direction * step) and abs(inside + direction * step) < min(limit, LARGEST_RATIO):
            step *= 2
        outside = inside + direction * step
        if not rejected(outside):
            if not np.isfinite(limit):
                return None
            ends.append(direction * limit)
            continue
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
        ends.append(float(np.clip(outside, -limit, limit)))
    return ends[0], ends[1]


def _statistics_of_ratio(
    above: Array, below: Array, factor: float, inflation: float = 1.0
) -> Callable[[float], tuple[float, float]]:
    """Return a function that computes ``statistics`` of above - ratio * below from the moments of both columns (n,).

    If the difference doesn't vary, the function returns the limit: infinity with the difference's sign, or 0 if that is
    0.
    """
    n, mean, base = len(above), float(above.mean()), float(below.mean())
    largest = float(np.abs(above).max()), float(np.abs(below).max())
    u, v = above - mean, below - base
    squares = [float(moment) for moment in (u @ u, u @ v, v @ v)]
    cubes = [float(moment) for moment in ((u * u) @ u, (u * u) @ v, (u * v) @ v, (v * v) @ v)]

    def of_ratio(ratio: float) -> tuple[float, float]:
        difference = mean - ratio * base
        square = squares[0] - 2 * ratio * squares[1] + ratio**2 * squares[2]
        cube = cubes[0] - 3 * ratio * cubes[1] + 3 * ratio**2 * cubes[2] - ratio**3 * cubes[3]
        if square <= CANCELLED * (squares[0] + ratio**2 * squares[2]):
            residuals = u - ratio * v
            square, cube = float(residuals @ residuals), float((residuals * residuals) @ residuals)
        rounding = CONSTANT * (largest[0] + abs(ratio) * largest[1])
        if square <= n * rounding**2:
            limit = math.copysign(math.inf, difference) if abs(difference) > rounding else 0.0
            return limit, limit
        skewness = factor * cube / n / (square / n) ** 1.5
        return statistics(difference / math.sqrt(inflation * square / (n - 1)), skewness, n)

    return of_ratio
