"""Measure how well a judge's labels agree with people's: Cohen's kappa over pairs, with intervals over queries."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis.coefficients import Array

Whole = npt.NDArray[np.int64]
METHOD = "jackknife over queries, Student's t"


class Kappa(NamedTuple):
    """Cohen's kappa and its 95% interval, each of shape (...); NaN where undefined."""

    value: Array
    low: Array
    high: Array


def cohens_kappa(tables: Array, weighted: bool = False, labels: Array | None = None) -> Kappa:
    """Compute Cohen's kappa over all pairs, with an interval over queries.

    ``tables`` (..., queries, g, g) counts pairs by human label, then by the judge's. ``labels`` (g,) are the labels'
    values, by default 0 to g - 1. Kappa is 1 - sum(d o) / sum(d e): o are the observed shares, e the shares expected of
    independent labels with the same margins, and d is the disagreement: 1 off the diagonal (Cohen 1960) or, if
    ``weighted``, the squared difference between the labels (Cohen 1968). A query's pairs aren't independent, so the
    interval uses Student's t with the jackknife error over queries.
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
    """Count pairs by query and labels: (queries, grades, grades). The columns (pairs,) hold indexes from 0 on."""
    tables = np.zeros((int(query.max()) + 1, grades, grades))
    np.add.at(tables, (query, people, judge), 1.0)
    return tables
