"""Dependence of utility on P_0, which is in it: r(P_0, U), the measure with P_k given P_0, and U by thirds of P_0."""

from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis import bootstrap
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array, pearson_features, pearson_left_out, pearson_of_sums
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    real,
    schema_of,
    text,
    whole,
)

METHOD = "jackknife over queries on Fisher's z, Student's t"
TABLE = {
    **CELL_COLUMNS,
    "measure": text("retrieval measure, at k"),
    "n": whole("queries with P, P₀, utility and measure", "queries"),
    "r_p0_utility": real("Pearson's r over queries of P₀ and utility", "−1 to 1"),
    "r_p0_utility_low": real("lower end of its 95% interval", "−1 to 1"),
    "r_p0_utility_high": real("upper end of its 95% interval", "−1 to 1"),
    "partial_r": real("Pearson's partial correlation of the measure and P given P₀", "−1 to 1"),
    "partial_r_low": real("lower end of its 95% interval", "−1 to 1"),
    "partial_r_high": real("upper end of its 95% interval", "−1 to 1"),
    "partial_r_p": real("two-sided p-value of partial_r = 0, uncorrected"),
    "partial_rho": real("the same of the ranks", "−1 to 1"),
    "partial_rho_low": real("lower end of its 95% interval", "−1 to 1"),
    "partial_rho_high": real("upper end of its 95% interval", "−1 to 1"),
    "partial_rho_p": real("two-sided p-value of partial_rho = 0, uncorrected"),
    "utility_low_p0": real("mean utility of the third of the queries with the lowest P₀"),
    "utility_middle_p0": real("mean utility of the middle third"),
    "utility_high_p0": real("mean utility of the third with the highest P₀"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Those of coupling.csv."""


def couplings(utility: pl.DataFrame, retrieval: pl.DataFrame) -> pl.DataFrame:
    """How one retriever's utility hangs on P_0: a row (``SCHEMA``) per cell and measure.

    ``utility``: retriever, ordering, k, references, qid, p, p0, utility; ``retrieval``: qid, measure, k, value. n
    counts the queries that have all four. ``r_p0_utility`` is Pearson's r of P_0 and U; ``partial_r`` and
    ``partial_rho`` (of ranks, taken once) are the correlations of the measure and P_k given P_0. Intervals (95%) and
    p-values: METHOD.
    ``utility_low_p0``, middle and high are the mean U of the thirds of the queries by P_0 (the lowest third is the
    largest where they don't divide). Correlations that aren't defined are null, with a ``reason``.
    """
    known = retrieval.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    joined = (
        utility.join(known.select("measure", "k", "qid", "value"), on=["k", "qid"])
        .drop_nulls(["p", "p0", "utility"])
        .sort(*CELL, "measure", "qid")
    )
    keys = [*CELL, "measure"]
    rows = [
        dict(zip(keys, key, strict=True)) | _coupling(*columns)
        for key, columns in by_cell(joined, keys, ["p", "p0", "utility", "value"])
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _coupling(p: Array, p0: Array, utility: Array, measure: Array) -> dict[str, Any]:
    n = len(p)
    if n < QUERIES_AT_LEAST:
        return {"n": n, "reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    thirds = np.array_split(utility[np.argsort(p0, kind="stable")], 3)
    names = ("utility_low_p0", "utility_middle_p0", "utility_high_p0")
    row: dict[str, Any] = {"n": n} | {name: float(third.mean()) for name, third in zip(names, thirds, strict=True)}
    for column, name in ((p0, "P₀"), (utility, "utility")):
        if is_constant(column):
            return row | {"reason": f"{name} is constant"}
    r, *left_out = _with_left_out(p0, utility)
    row |= {"method": METHOD} | _named("r_p0_utility", r, np.array(left_out))
    for column, name in ((p, "P"), (measure, "the measure")):
        if is_constant(column):
            return row | {"reason": f"{name} is constant"}
    for name, columns in (("partial_r", (measure, p, p0)), ("partial_rho", map(stats.rankdata, (measure, p, p0)))):
        partial, *jackknife = _partial(*columns)
        row |= _named(name, partial, np.array(jackknife)) if np.isfinite(partial) else {"reason": "P₀ decides P"}
    return row


def _named(name: str, value: float, jackknife: Array) -> dict[str, float | None]:
    tested = bootstrap.fisher_jackknife(float(value), jackknife)
    row = {name: float(value), f"{name}_low": tested.low, f"{name}_high": tested.high, f"{name}_p": tested.p_value}
    return {name: value for name, value in row.items() if name in SCHEMA}


def _with_left_out(x: Array, y: Array) -> Array:
    """Pearson's r of ``x`` and ``y`` (n,), then without each query in turn (1 + n,)."""
    features = pearson_features([(x, y)])
    return np.concatenate([pearson_of_sums(features.sum(axis=0, keepdims=True)), pearson_left_out(features)])[:, 0]


def _partial(x: Array, y: Array, given: Array) -> Array:
    """The partial correlation of ``x`` and ``y`` ``given`` a third column, then without each query in turn (1 + n,)."""
    xy, xz, yz = (_with_left_out(*columns) for columns in ((x, y), (x, given), (y, given)))
    with np.errstate(invalid="ignore", divide="ignore"):
        partial: Array = (xy - xz * yz) / np.sqrt((1.0 - xz**2) * (1.0 - yz**2))
    return partial
