"""Determine whether a verdict on a mean difference would survive one more query (see docs/error-rates.md)."""

import numpy as np

from ragrelay.analysis.clusters import Indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.mean_tests import ClusterMeans, Means, cautious
from ragrelay.analysis.verdicts import EQUIVALENT, NOT_BETTER, NOT_WORSE, SAY_BETTER, SAY_WORSE
from ragrelay.base.vocabulary.columns import boolean

AGAINST = 0.25
"""The size of the added query's difference, in the scorer's unit."""
STANDS = boolean(
    f"whether the verdict would survive one more query with a difference of {AGAINST} in the opposite direction (or, "
    "if queries form clusters, one more cluster of n / n_eff such queries); empty if the verdict is undecided or there "
    "are too few queries"
)


def stands(
    differences: Array, verdict: str, level: float = 0.95, margin: float | None = None, cluster: Indexes | None = None
) -> bool | None:
    """Return whether ``verdict`` on the mean of ``differences`` (n,) would survive one more query; None if undecided.

    ``cluster``: each query's cluster number, if queries form clusters (see ``with_one_more``).

    If the verdict says better, the interval must stay above 0 after a difference of -AGAINST is added; if it says
    worse, the interval must stay below 0 after AGAINST is added. The margin doesn't matter for these verdicts. The
    interval must stay above -``margin`` for not worse, below ``margin`` for not better, and within ± ``margin`` for
    equivalent. The check matters because a sample may lack rare, large differences, such as those from refused answers.
    """
    above = verdict in (*SAY_BETTER, EQUIVALENT, NOT_WORSE)
    below = verdict in (*SAY_WORSE, EQUIVALENT, NOT_BETTER)
    if not above and not below:
        return None
    bound = 0.0 if margin is None or verdict in (*SAY_BETTER, *SAY_WORSE) else margin
    (low,), _ = with_one_more(differences, -AGAINST, cluster).interval(level)
    _, (high,) = with_one_more(differences, AGAINST, cluster).interval(level)
    return bool((low > -bound or not above) and (high < bound or not below))


def with_one_more(differences: Array, value: float, cluster: Indexes | None) -> Means | ClusterMeans:
    """Return the moments of ``differences`` (n,) after adding one query whose difference is ``value``.

    If queries form clusters, a cluster of (sum m²) / (sum m) such queries is added, where m are the sizes of the
    existing clusters. This number is the mean size of a query's cluster.
    """
    if cluster is None:
        return cautious(np.append(differences, value))
    means = ClusterMeans.of(differences, cluster)
    size = means.sizes.sum() / means.effective
    return ClusterMeans(np.append(means.sums, value * size), np.append(means.sizes, size))
