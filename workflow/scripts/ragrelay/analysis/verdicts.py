"""The words of conclusion: what tables and pages say of a gain, a correlation or an equivalence.

How often each is said wrongly was simulated: docs/statistics.md.
"""

from ragrelay.analysis.multiplicity import ALPHA

UNDECIDED = "undecided"
BETTER, WORSE = "better", "worse"
"""Of a gain: the mean of P_k - P_0 is above, below zero."""
ABOVE, BELOW = "above zero", "below zero"
"""Of a correlation."""
EQUIVALENT, NOT_WORSE = "equivalent", "not worse"
"""Of a retriever's P_k compared with the reference retriever's, within a margin."""
QUERIES_AT_LEAST = 5
"""Fewer queries decide nothing."""


def of_gain(mean: float, p_value: float) -> str:
    """better or worse where the test rejects a mean of 0, by the mean's sign."""
    return UNDECIDED if p_value >= ALPHA else BETTER if mean > 0 else WORSE


def of_correlation(low: float | None, high: float | None, p_value: float) -> str:
    """above or below zero where the test rejects a correlation of 0 and the 95% interval leaves it out."""
    if p_value >= ALPHA or low is None or high is None:
        return UNDECIDED
    return ABOVE if low > 0 else BELOW if high < 0 else UNDECIDED
