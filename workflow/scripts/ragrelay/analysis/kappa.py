"""Measure how well a judge's labels agree with human labels, using Cohen's kappa and a jackknife over queries."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis.coefficients import Array

Whole = npt.NDArray[np.int64]
METHOD = "jackknife over queries, Student's t"


class Kappa(NamedTuple):
    """Cohen's kappa with its 95% interval; undefined values are NaN."""

    value: Array
    low: Array
    high: Array


def cohens_kappa(tables: Array, weighted: bool = False, labels: Array | None = None) -> Kappa:
    """Compute Cohen's kappa between human labels and a judge's labels, with a 95% interval.

    ``tables`` (..., queries, g, g) counts each query's pairs of a human label and a judge's label. ``labels`` (g,) are
    the labels' numeric values, by default 0 to g - 1. Kappa is 1 - sum(d o) / sum(d e), where o are the observed shares
    of pairs and e the shares expected if both labels were independent with the same margins. The disagreement d is 1
    off the diagonal (Cohen 1960) or, if ``weighted``, the squared difference between the two labels (Cohen 1968). A
    query's pairs aren't independent, so the interval uses Student's t with the jackknife error over queries.
    """
    n, grades = tables.shape[-3], np.arange(tables.shape[-1]) if labels is None else labels
    disagreement = ((grades[:, None] - grades) ** 2).astype(float)
    if not weighted:
        disagreement = np.minimum(disagreement, 1.0)
    total = tables.sum(axis=-3, keepdims=True)
    value = _kappa(total, disagreement)[..., 0]
    left_out = _kappa(total - tables, disagreement)
    spread = left_out - left_out.mean(axis=-1, keepdims=True)
    reach = special.stdtrit(n - 1, 0.975) * np.sqrt((n - 1) / n * (spread**2).sum(axis=-1))
    return Kappa(value, value - reach, np.minimum(value + reach, 1.0))


def _kappa(table: Array, disagreement: Array) -> Array:
    rows, columns, pairs = table.sum(axis=-1), table.sum(axis=-2), table.sum(axis=(-2, -1))
    observed = (table * disagreement).sum(axis=(-2, -1))
    expected = np.einsum("...i,...j,ij->...", rows, columns, disagreement)
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1.0 - pairs * observed / expected


def tables_by_query(query: Whole, people: Whole, judge: Whole, grades: int) -> Array:
    """Cross-tabulate human and judge labels (as indexes) by query, in an array (queries, grades, grades)."""
    tables = np.zeros((int(query.max()) + 1, grades, grades))
    np.add.at(tables, (query, people, judge), 1.0)
    return tables
