"""Derive verdicts on mean differences and correlations from intervals.

The simulated error rates are in docs/error-rates.md.
"""

import math

import numpy as np

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.multiplicity import ALPHA

UNDECIDED = "undecided"
BETTER, WORSE = "better", "worse"
"""Verdicts on a mean difference in P whose interval is above or below zero."""
MUCH_BETTER, MUCH_WORSE = "better by more than the margin", "worse by more than the margin"
LITTLE_BETTER, LITTLE_WORSE = "better, by less than the margin", "worse, by less than the margin"
EQUIVALENT, NOT_WORSE, NOT_BETTER = "equivalent", "not worse", "not better"
"""Verdicts if the interval contains zero: it lies within both margins, above the lower one, or below the upper one."""
TOO_FEW = "too few queries"
OF_DIFFERENCE = (MUCH_BETTER, BETTER, LITTLE_BETTER, EQUIVALENT, NOT_WORSE, NOT_BETTER, LITTLE_WORSE, WORSE, MUCH_WORSE,
                 UNDECIDED, TOO_FEW)  # fmt: skip
"""Every verdict on a mean difference, from best to worst, followed by the undecided ones."""
SAY_BETTER, SAY_WORSE = (MUCH_BETTER, BETTER, LITTLE_BETTER), (MUCH_WORSE, WORSE, LITTLE_WORSE)
ABOVE, BELOW = "above zero", "below zero"
"""Verdicts on a correlation whose interval is above or below zero."""
QUERIES_AT_LEAST = 5
"""Minimum number of queries for an interval."""
WORDS_AT_LEAST, DIFFERENT_AT_LEAST = 12, 8
"""Minimum number of queries for a verdict, and of queries with a nonzero difference."""
EFFECTIVE_AT_LEAST = 6.0
"""Minimum effective number, for a verdict, of clusters or of queries weighted by their contribution to a slope."""


def few(differences: Array, effective: float = math.inf, units: tuple[str, str] = ("query", "queries")) -> str | None:
    """Return why ``differences`` (n,) are too few for a verdict, including the counts, or None if there are enough.

    If queries form clusters, ``differences`` holds the clusters' sums, ``effective`` is the effective number of
    clusters, and ``units`` holds the singular and plural of the word for a cluster.
    """
    n, different = len(differences), int(np.count_nonzero(differences))
    show = "shows" if different == 1 else "show"
    if n < WORDS_AT_LEAST:
        return f"{n} {units[n != 1]}, but {WORDS_AT_LEAST} are needed"
    if different < DIFFERENT_AT_LEAST:
        return f"{different} of {n} {units[1]} {show} a difference, but {DIFFERENT_AT_LEAST} are needed"
    return None if effective >= EFFECTIVE_AT_LEAST else (
        f"{effective:.1f} effective {units[1]}, but {EFFECTIVE_AT_LEAST:.0f} are needed")  # fmt: skip


def few_pairs(x: Array, y: Array, names: tuple[str, str], clusters: int | None, effective: float) -> str | None:
    """Return why no verdict on the correlation of ``x`` and ``y`` (n,) is possible, or None if there are enough values.

    Too many equal values in a column lead to false positives, just as a small sample does (docs/methods.md). If queries
    form clusters, the minimums apply to ``clusters`` (their number) and ``effective`` (their effective number).
    """
    n = len(x)
    if clusters is not None:
        return few(np.ones(clusters), effective, ("cluster", "clusters"))
    for column, name in zip((x, y), names, strict=True):
        other = n - int(np.unique(column, return_counts=True)[1].max())
        if n >= WORDS_AT_LEAST and other < DIFFERENT_AT_LEAST:
            differs = f"{name} differs from its most common value for only {other} of {n} queries"
            return f"{differs}, but {DIFFERENT_AT_LEAST} are needed"
    return few(np.ones(n))


def of_difference(differences: Array, low: float | None, high: float | None, margin: float | None = None) -> str:
    """Return TOO_FEW or the verdict on the mean of ``differences`` (n,), given the interval ``low`` to ``high``."""
    return TOO_FEW if few(differences) else of_interval(low, high, margin)


def of_interval(low: float | None, high: float | None, margin: float | None = None) -> str:
    """Return the verdict on a mean difference with the interval ``low`` to ``high``, or undecided without an interval.

    If the interval excludes zero, the verdict is better or worse: by more than the margin if the interval lies beyond
    the margin, and by less than the margin if the interval lies between zero and the margin. If the interval contains
    zero, the verdict is equivalent if both -``margin`` and ``margin`` lie outside the interval, not worse if only
    -``margin`` does, and not better if only ``margin`` does. Without a ``margin``, the verdict is better, worse or
    undecided.
    """
    if low is None or high is None:
        return UNDECIDED
    if low > 0 or high < 0:
        words = (MUCH_BETTER, BETTER, LITTLE_BETTER) if low > 0 else (MUCH_WORSE, WORSE, LITTLE_WORSE)
        near, far = (low, high) if low > 0 else (-high, -low)
        return words[1] if margin is None else words[0] if near > margin else words[2] if far < margin else words[1]
    if margin is None:
        return UNDECIDED
    above, below = low > -margin, high < margin
    return EQUIVALENT if above and below else NOT_WORSE if above else NOT_BETTER if below else UNDECIDED


def of_correlation(low: float | None, high: float | None, p_value: float) -> str:
    """Return ABOVE or BELOW if the test is significant and the 95% interval excludes 0, otherwise UNDECIDED."""
    if p_value >= ALPHA or low is None or high is None:
        return UNDECIDED
    return ABOVE if low > 0 else BELOW if high < 0 else UNDECIDED
