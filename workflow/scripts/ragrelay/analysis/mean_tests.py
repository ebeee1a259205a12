"""The verdict's test of a mean difference: Student's t and Hall's, whichever is more cautious.

Student's t calls too often on the side of the short tail where differences are skewed and queries are few; Hall's
transformation removes the skewness but is a little too eager itself where one query makes the skewness. A mean differs
from 0 only where both say so on the same side, which keeps the level on all data tried (docs/statistics.md).
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from ragrelay.analysis.coefficients import Array

METHOD = "Student's t and Hall's, the more cautious"
# Below this |skewness| Hall's transformation is the identity but for rounding.
NO_SKEWNESS = 1e-8
BISECTIONS = 60
LARGEST_RATIO = 1e6


class Means(NamedTuple):
    """Means of columns of n values: mean, standard deviation (n - 1), skewness, all (columns,), and n."""

    mean: Array
    deviation: Array
    skewness: Array
    n: int

    @classmethod
    def of(cls, columns: Array) -> "Means":
        """Of ``columns`` (n, columns), none of them constant."""
        centred = columns - columns.mean(axis=0)
        skewness = (centred**3).mean(axis=0) / (centred**2).mean(axis=0) ** 1.5
        return cls(columns.mean(axis=0), columns.std(axis=0, ddof=1), skewness, len(columns))

    def p_greater(self, null: float = 0.0) -> Array:
        """One-sided p-values of "the mean is above ``null``"."""
        return np.maximum(*(special.stdtr(self.n - 1, -statistic) for statistic in self._statistics(null)))

    def p_less(self, null: float = 0.0) -> Array:
        """One-sided p-values of "the mean is below ``null``"."""
        return np.maximum(*(special.stdtr(self.n - 1, statistic) for statistic in self._statistics(null)))

    def p_value(self, null: float = 0.0) -> Array:
        """Two-sided p-values; below 0.05 where the 95% interval leaves out ``null``."""
        return np.minimum(1.0, 2.0 * np.minimum(self.p_greater(null), self.p_less(null)))

    def p_hall(self, null: float = 0.0) -> Array:
        """Two-sided p-values of Hall's test alone."""
        return 2.0 * special.stdtr(self.n - 1, -np.abs(self._statistics(null)[1]))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """The means that the two-sided test does not reject: the wider of both intervals at either end."""
        reach = float(special.stdtrit(self.n - 1, (1.0 + level) / 2)) / np.sqrt(self.n)
        low, high = np.maximum(reach, self._untransformed(reach)), np.minimum(-reach, self._untransformed(-reach))
        return self.mean - low * self.deviation, self.mean - high * self.deviation

    def _statistics(self, null: float) -> tuple[Array, Array]:
        """Student's t and Hall's statistic, both to be referred to Student's t.

        With T = (mean - null) / deviation and the skewness g, Hall's is sqrt(n) times T + g T^2 / 3 + g^2 T^3 / 27 +
        g / (6 n), which rises with T (Hall 1992, Journal of the Royal Statistical Society B 54).
        """
        ratio, g, scale = (self.mean - null) / self.deviation, self.skewness, np.sqrt(self.n)
        return scale * ratio, scale * (ratio + g * ratio**2 / 3 + g**2 * ratio**3 / 27 + g / (6 * self.n))

    def _untransformed(self, value: float) -> Array:
        """The T whose Hall's statistic (over sqrt(n)) is ``value``."""
        plain = np.abs(self.skewness) < NO_SKEWNESS
        g = np.where(plain, 1.0, self.skewness)
        return np.where(plain, value, 3.0 / g * (np.cbrt(1.0 + g * (value - g / (6 * self.n))) - 1.0))


def ratio_interval(above: Array, below: Array, level: float = 0.95) -> tuple[float, float] | None:
    """Interval of the ratio of two means, of paired values (n,) each: Fieller's (1954) with the test above.

    It holds the ratios for which ``above`` - ratio x ``below`` has a mean that the test does not tell from 0; None
    where some end has no such bound, as where the mean of ``below`` is not told from 0.
    """
    centre = above.mean() / below.mean()
    ends: list[float] = []
    for direction in (-1.0, 1.0):
        near, step = centre, max(abs(centre), 1.0) / 16
        while not _rejected(above, below, near + direction * step, level):
            step *= 2
            if step > LARGEST_RATIO:
                return None
        inside, outside = near, near + direction * step
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if _rejected(above, below, middle, level) else (middle, outside)
        ends.append(float(outside))
    return ends[0], ends[1]


def _rejected(above: Array, below: Array, ratio: float, level: float) -> bool:
    difference = above - ratio * below
    return bool(Means.of(difference[:, None]).p_value()[0] < 1.0 - level)
