"""How large a study must be: the smallest difference of mean P that it finds, and queries for equivalence."""

import math

from scipy import stats

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.paired_tests import POWER, detectable_effect
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST

ASSUMED_SD = 0.2
"""Standard deviation over queries of a difference of P, before there are answers: that of TREC DL's (.15 to .25)."""
CAUTION = 1.5


def detectable_difference(n: int, sd: float) -> float:
    """The smallest difference that words (see verdicts) find in 80% of studies of ``n`` queries, at ``sd`` over them.

    That of a paired t-test at 5% (statsmodels) times 1 + CAUTION / n, since Hall's test with 1.75 times the skewness
    must agree: with normal differences this has a power of 77% to 80% from 12 queries on (docs/statistics.md).
    """
    return sd * detectable_effect(n) * (1.0 + CAUTION / n)


def queries_for_margin(margin: float, sd: float) -> int:
    """Queries with which an interval of 95% lies within ± ``margin`` in 80% of studies whose true difference is 0.

    By the normal approximation; ``sd`` is that of a query's difference.
    """
    reach = float(stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(1.0 - (1.0 - POWER) / 2))
    return max(QUERIES_AT_LEAST, math.ceil((reach * sd / margin) ** 2))
