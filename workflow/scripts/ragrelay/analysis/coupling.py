"""Measure how strongly utility depends on P_0, which is part of utility's definition."""

from collections import defaultdict

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis import bootstrap
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array, pearson_features, pearson_left_out, pearson_of_sums
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)

METHOD = "jackknife over queries on Fisher's z, Student's t"
TABLE = {
    **CELL_COLUMNS,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "n": integer("number of queries with values for P, P₀, utility and the measure (or predictor)", "queries"),
    "r_p0_utility": number("Pearson's r between P₀ and utility, over queries", "−1 to 1"),
    "r_p0_utility_low": number("lower end of the 95% interval for `r_p0_utility`", "−1 to 1"),
    "r_p0_utility_high": number("upper end of the 95% interval for `r_p0_utility`", "−1 to 1"),
    "partial_r": number("Pearson's partial correlation between the measure and P, given P₀", "−1 to 1"),
    "partial_r_low": number("lower end of the 95% interval for `partial_r`", "−1 to 1"),
    "partial_r_high": number("upper end of the 95% interval for `partial_r`", "−1 to 1"),
    "partial_r_p": number("uncorrected two-sided p-value for the null hypothesis that `partial_r` is 0"),
    "partial_rho": number("Spearman's partial correlation between the measure and P, given P₀: Pearson's partial "
        "correlation of the ranks", "−1 to 1"),
    "partial_rho_low": number("lower end of the 95% interval for `partial_rho`", "−1 to 1"),
    "partial_rho_high": number("upper end of the 95% interval for `partial_rho`", "−1 to 1"),
    "partial_rho_p": number("uncorrected two-sided p-value for the null hypothesis that `partial_rho` is 0"),
    "utility_low_p0": number("mean utility over the third of queries with the lowest P₀"),
    "utility_middle_p0": number("mean utility over the third of queries with medium P₀"),
    "utility_high_p0": number("mean utility over the third of queries with the highest P₀"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of coupling.csv."""
BY_QUERY = (*(name for name in TABLE if name.endswith(("_low", "_high", "_p"))), "method")
"""The columns that assume independent queries (see analyse_transmission)."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of coupling.csv from the answers and rankings in ``given``."""
    return pl.concat(couplings(*of_retriever) for of_retriever in given.each_retriever())


def couplings(utility: pl.DataFrame, retrieval: pl.DataFrame) -> pl.DataFrame:
    """Measure how strongly one retriever's utility depends on P_0, with one row (``SCHEMA``) per cell and measure.

    ``utility`` has the columns utility.COLUMNS; ``retrieval`` has qid, measure, k and value. ``partial_r`` and
    ``partial_rho`` are partial correlations between the measure and P_k given P_0. ``partial_rho`` is computed from
    ranks; the residuals aren't ranked again. Queries are split into thirds by P_0; if n isn't divisible by 3, the lower
    thirds are larger by one query. ``reason`` says why a correlation is null.
    """
    known = retrieval.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    joined = (
        utility.join(known.select("measure", "k", "qid", "value"), on=["k", "qid"])
        .drop_nulls(["p", "p0", "utility"])
        .sort(*CELL, "measure", "qid")
    )
    keys = [*CELL, "measure"]
    rows: list[dict[str, object]] = []
    correlated: dict[int, list[tuple[int, Array]]] = defaultdict(list)
    for key, columns in by_cell(joined, keys, ["p", "p0", "utility", "value"]):
        row = dict(zip(keys, key, strict=True)) | _thirds(*columns[1:3])
        if "reason" not in row:
            correlated[row["n"]].append((len(rows), columns))
        rows.append(row)
    for cells in correlated.values():
        places, of_cells = zip(*cells, strict=True)
        for place, correlations in zip(places, _correlations(np.array(of_cells)), strict=True):
            rows[place] |= correlations
    return pl.DataFrame(rows, schema=SCHEMA)


def _thirds(p0: Array, utility: Array) -> dict[str, object]:
    """Return n and mean utility in each third, with a ``reason`` if no correlation is defined."""
    n = len(p0)
    if n < QUERIES_AT_LEAST:
        return {"n": n, "reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    thirds = np.array_split(utility[np.argsort(p0, kind="stable")], 3)
    names = ("utility_low_p0", "utility_middle_p0", "utility_high_p0")
    row: dict[str, object] = {"n": n} | {name: float(third.mean()) for name, third in zip(names, thirds, strict=True)}
    for column, name in ((p0, "P₀"), (utility, "utility")):
        if is_constant(column):
            return row | {"reason": f"{name} is constant"}
    return row


def _correlations(cells: Array) -> list[dict[str, object]]:
    """Correlate P, P_0, utility and measure in ``cells`` (cells, 4, n), where P_0 and utility aren't constant."""
    p, p0, utility, measure = cells.swapaxes(0, 1)
    rows = [{"method": METHOD} | _named("r_p0_utility", estimates) for estimates in _with_left_out(p0, utility)]
    partial = []
    for place, columns in enumerate(zip(p, measure, strict=True)):
        constant = [name for name, column in zip(("P", "the measure"), columns, strict=True) if is_constant(column)]
        if constant:
            rows[place]["reason"] = f"{constant[0]} is constant"
        else:
            partial.append(place)
    if not partial:
        return rows
    values = np.array([measure, p, p0])[:, partial]
    for name, three in (("partial_r", values), ("partial_rho", stats.rankdata(values, axis=-1))):
        for place, estimates in zip(partial, _partial(*three), strict=True):
            rows[place] |= _named(name, estimates) if np.isfinite(estimates[0]) else {"reason": "P₀ determines P"}
    return rows


def _named(name: str, values: Array) -> dict[str, object]:
    """Return a correlation's columns, given its value and its values without each query in turn (1 + n,)."""
    value = float(values[0])
    tested = bootstrap.fisher_jackknife(value, values[1:])
    row = {name: value, f"{name}_low": tested.low, f"{name}_high": tested.high, f"{name}_p": tested.p_value}
    return {name: value for name, value in row.items() if name in SCHEMA}


def _with_left_out(x: Array, y: Array) -> Array:
    """Compute Pearson's r of each cell's ``x`` and ``y`` (cells, n) with all and without each query: (cells, 1 + n)."""
    features = pearson_features(list(zip(x, y, strict=True)))
    correlations = [pearson_of_sums(features.sum(axis=0, keepdims=True)), pearson_left_out(features)]
    return np.ascontiguousarray(np.concatenate(correlations).T)


def _partial(x: Array, y: Array, z: Array) -> Array:
    """Compute the partial correlation of ``x`` and ``y`` given ``z``, all (cells, n); see ``_with_left_out``."""
    xy, xz, yz = (_with_left_out(*columns) for columns in ((x, y), (x, z), (y, z)))
    with np.errstate(invalid="ignore", divide="ignore"):
        partial: Array = (xy - xz * yz) / np.sqrt((1.0 - xz**2) * (1.0 - yz**2))
    return partial
