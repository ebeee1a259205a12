"""The words of conclusion that tables and pages use for a mean difference or a correlation.

How often each is said wrongly was simulated: docs/statistics.md.
"""

import numpy as np

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.multiplicity import ALPHA

UNDECIDED = "undecided"
BETTER, WORSE = "better", "worse"
"""Words for a mean difference of P whose interval is above or below zero."""
MUCH_BETTER, MUCH_WORSE = "better by more than the margin", "worse by more than the margin"
LITTLE_BETTER, LITTLE_WORSE = "better, by less than the margin", "worse, by less than the margin"
EQUIVALENT, NOT_WORSE, NOT_BETTER = "equivalent", "not worse", "not better"
"""Where the interval has zero in it: inside, above the lower and below the upper margin."""
TOO_FEW = "too few queries"
OF_DIFFERENCE = (MUCH_BETTER, BETTER, LITTLE_BETTER, EQUIVALENT, NOT_WORSE, NOT_BETTER, LITTLE_WORSE, WORSE, MUCH_WORSE,
                 UNDECIDED, TOO_FEW)  # fmt: skip
"""Every word for a mean difference, from the best to the unknown."""
SAY_BETTER, SAY_WORSE = (MUCH_BETTER, BETTER, LITTLE_BETTER), (MUCH_WORSE, WORSE, LITTLE_WORSE)
ABOVE, BELOW = "above zero", "below zero"
"""Words for a correlation whose interval is above or below zero."""
QUERIES_AT_LEAST = 5
"""Fewer queries have no interval."""
WORDS_AT_LEAST, DIFFERENT_AT_LEAST = 12, 8
"""Fewer queries, or fewer with a difference that is not zero, have no word."""


def enough(differences: Array) -> bool:
    """Whether there are enough ``differences`` (n,), and enough that are not 0, for a word."""
    return len(differences) >= WORDS_AT_LEAST and int(np.count_nonzero(differences)) >= DIFFERENT_AT_LEAST


def of_difference(differences: Array, low: float | None, high: float | None, margin: float | None = None) -> str:
    """The word of a mean of ``differences`` (n,), read off its interval: see ``of_interval``, ``enough``."""
    return of_interval(low, high, margin) if enough(differences) else TOO_FEW


def of_interval(low: float | None, high: float | None, margin: float | None = None) -> str:
    """The word of a mean difference whose interval is ``low`` to ``high``; undecided where there is none.

    better, worse: zero is outside; by more than the margin: so is the margin of that side; by less: the interval ends
    before it. equivalent: zero is inside, and both margins are outside; not worse, not better: one of them is. Without
    a ``margin`` only better, worse and undecided.
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
    """above or below zero where the test rejects a correlation of 0 and the 95% interval leaves it out."""
    if p_value >= ALPHA or low is None or high is None:
        return UNDECIDED
    return ABOVE if low > 0 else BELOW if high < 0 else UNDECIDED
