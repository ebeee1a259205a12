"""Explain why a verdict is ``too few queries``, or neither better nor worse although Student's t is significant."""

import numpy as np

from ragrelay.analysis.clusters import Indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.mean_tests import ClusterMeans, cautious, few
from ragrelay.analysis.verdicts import SAY_BETTER, SAY_WORSE, TOO_FEW
from ragrelay.base.vocabulary.columns import text

REMARK = text("why there are too few queries for a verdict, or why the verdict is neither better nor worse although "
    "Student's t-test alone would be significant; otherwise empty")  # fmt: skip
SMALL = 0.001
"""A smaller p-value is given as "below" this value."""


def remark(differences: Array, verdict: str, level: float = 0.95, cluster: Indexes | None = None) -> str | None:
    """Explain why ``verdict`` is "too few queries", or neither better nor worse although Student's t is significant.

    Args:
        differences: Differences (n,), which must be testable unless the verdict is too few queries.
        verdict: Verdict on the mean difference.
        level: The interval's level.
        cluster: Each query's cluster number (n,), if queries form clusters.

    Returns:
        Why there are too few queries, or Student's p-value and how many differences have the opposite sign, or None.
    """
    if verdict == TOO_FEW:
        return few(differences, cluster)
    p_value = cautious(differences, cluster).p_student()
    if verdict in (*SAY_BETTER, *SAY_WORSE) or p_value >= 1.0 - level:
        return None
    units = differences if cluster is None else ClusterMeans.of(differences, cluster).counted
    other, name = int(np.count_nonzero(units * units.mean() < 0.0)), "queries" if cluster is None else "clusters"
    against = f"; {other} of {len(units)} {name} {'goes' if other == 1 else 'go'} the other way" if other else ""
    p = f"p < {SMALL}" if p_value < SMALL else f"p = {p_value:.3f}"
    return f"only Student’s t-test is significant ({p}), which isn’t enough because the differences are skewed{against}"
