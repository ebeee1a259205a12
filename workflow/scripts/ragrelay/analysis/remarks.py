"""Explain why a verdict on a mean difference differs from what the counts or Student's t suggest."""

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
    """Explain a ``verdict`` that is neither better nor worse although the counts or Student's t suggest otherwise.

    Args:
        differences: The differences (n,), which must be testable unless the verdict is too few queries.
        verdict: The verdict on their mean, from its interval.
        level: The interval's level.
        cluster: Each query's cluster number (n,), if queries form clusters.

    Returns:
        The counts, if there are too few queries; the p-value of Student's t, if that alone excludes a mean of 0 at
        ``level``, and how many queries (or clusters) lie on the other side; otherwise None.
    """
    if verdict == TOO_FEW:
        return few(differences, cluster)
    p_value = cautious(differences, cluster).p_student()
    if verdict in (*SAY_BETTER, *SAY_WORSE) or p_value >= 1.0 - level:
        return None
    units = differences if cluster is None else ClusterMeans.of(differences, cluster).counted
    other, name = int(np.count_nonzero(units * units.mean() < 0.0)), "queries" if cluster is None else "clusters"
    against = f", but {other} of {len(units)} {name} {'goes' if other == 1 else 'go'} the other way" if other else ""
    p = f"p < {SMALL}" if p_value < SMALL else f"p = {p_value:.3f}"
    return f"skewed differences: Student's t alone has {p}{against}"
