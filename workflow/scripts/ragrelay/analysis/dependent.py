"""Compare dependent correlations (over the same queries) between retrievers, between orderings and across k."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from ragrelay.analysis import bootstrap, multiplicity
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import no_coefficient
from ragrelay.analysis.significance import ASCENDING
from ragrelay.analysis.transmission import Transmission
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    RESAMPLES,
    STUDY_PART,
    adjusted,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.orderings import DESCENDING

RETRIEVERS, ORDERINGS, TREND = "retrievers", "orderings", "trend over k"
METHOD = "paired jackknife, Student's t"
FAMILY = ("comparison", "references", "measure")
CELLS = ("retriever", "ordering", "against_retriever", "against_ordering", "against_k")
TABLE = {
    "comparison": text("property in which the compared cells differ: the retriever (`retrievers`), the ordering "
        "(`orderings`) or k (`trend over k`)"),
    **CONTEXT_COLUMNS,
    "against_retriever": text("name of the retriever in the other cell of the comparison"),
    "against_ordering": text("ordering in the other cell of the comparison"),
    "against_k": integer("k in the other cell of the comparison; for a trend, the smallest k", "passages"),
    "references": REFERENCES,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "coefficient": text("correlation coefficient; always `pearson`"),
    "n": integer("number of queries that have values in all compared cells", "queries"),
    "n_partial": integer("number of queries that have values in only some of the compared cells", "queries"),
    "same_references": boolean("whether the answers in all compared cells were scored against the same references"),
    "value": number("correlation between the measure and utility in this row's cell", "−1 to 1"),
    "against_value": number("correlation between the measure and utility in the other cell", "−1 to 1"),
    "difference": number("`value` minus `against_value`; for a trend, the regression slope of r over k, per passage"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the difference is 0"),
    "method": INTERVAL_METHOD,
    "bootstrap_low": number("lower end of the 95% interval from a paired bootstrap"),
    "bootstrap_high": number("upper end of the 95% interval from a paired bootstrap"),
    "resamples": RESAMPLES,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted()}
"""Columns of differences.csv."""
BY_QUERY = (*INTERVAL, *(name for name in COLUMNS if name.startswith("p_")), "method", "bootstrap_low",
            "bootstrap_high", "resamples")  # fmt: skip
"""The columns that assume independent queries (see analyse_transmission)."""
ContextCell = tuple[str, str, int]


@dataclass(frozen=True)
class Contrast:
    """A difference between correlations."""

    comparison: str
    ends: tuple[ContextCell, ContextCell]
    """The two cells that the row compares."""
    weights: Mapping[ContextCell, float]
    """Each cell's weight in the difference."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of differences.csv from the answers and rankings in ``given``."""
    return with_adjusted(differences(given.cells, given.measured, given.resamples, given.seed))


def differences(utility: pl.DataFrame, retrieval: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Compare Pearson's r between retrievers, between orderings and across k, with one row (``SCHEMA``) per comparison.

    ``utility`` has the columns utility.COLUMNS; ``retrieval`` has retriever, qid, measure, k and value. ``comparison``
    is ``retrievers`` (two retrievers at the same ordering and k), ``orderings`` (descending against ascending) or
    ``trend over k`` (the least-squares slope of r on k, which is the change in r per passage).

    Each resample contains the same queries in all cells, because the correlations share queries, measures and zero-shot
    answers. ``low``, ``high`` (95%) and p_value (null: no difference) use Student's t with the jackknife error, which
    keeps the nominal level where BCa intervals don't (docs/methods.md). ``bootstrap_low`` and ``bootstrap_high`` are
    the ends of the paired bootstrap's percentile interval, with expanded levels. The jackknife leaves out one query at
    a time, including any with values in only some cells. If a cell's utility or measure is constant in more than 5% of
    the resamples, the bootstrap interval is null; other results aren't affected. ``same_references`` is false if the
    cells have different unseen references.
    """
    rows = [
        row
        for references in utility["references"].unique().sort()
        for measure in retrieval["measure"].unique().sort()
        for row in _compare(
            utility.filter(references=references),
            retrieval.filter(pl.col("value").is_not_nan(), measure=measure),
            {"references": references, "measure": measure, "coefficient": "pearson"},
            resamples,
            seed,
        )
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def with_adjusted(table: pl.DataFrame) -> pl.DataFrame:
    """Add each test's family (comparison × references × measure), the family's size, p_holm and p_bh."""
    return multiplicity.with_adjusted(table, FAMILY, {"p_value": "p"}, CELLS)


def contrasts(cells: list[ContextCell]) -> Iterator[Contrast]:
    """Yield all comparisons in ``cells`` (retriever, ordering, k): two retrievers, two orderings, or a trend over k."""
    known = set(cells)
    retrievers = list(dict.fromkeys(retriever for retriever, _, _ in cells))
    orderings = list(dict.fromkeys(ordering for _, ordering, _ in cells))
    ks = sorted({k for _, _, k in cells})
    for ordering in orderings:
        for k in ks:
            present = [(retriever, ordering, k) for retriever in retrievers if (retriever, ordering, k) in known]
            for first, second in combinations(present, 2):
                yield Contrast(RETRIEVERS, (first, second), {first: 1.0, second: -1.0})
    for retriever in retrievers:
        for k in ks:
            first, second = (retriever, DESCENDING, k), (retriever, ASCENDING, k)
            if {first, second} <= known:
                yield Contrast(ORDERINGS, (first, second), {first: 1.0, second: -1.0})
    for retriever in retrievers:
        for ordering in orderings:
            own = np.array([k for k in ks if (retriever, ordering, k) in known], dtype=float)
            if len(own) > 1:
                slope = (own - own.mean()) / ((own - own.mean()) ** 2).sum()
                trend: dict[ContextCell, float] = {
                    (retriever, ordering, int(k)): float(w) for k, w in zip(own, slope, strict=True)
                }
                yield Contrast(TREND, (max(trend, key=_k), min(trend, key=_k)), trend)


def _k(cell: ContextCell) -> int:
    return cell[2]


def _compare(
    utility: pl.DataFrame, retrieval: pl.DataFrame, names: dict[str, str], resamples: int, seed: int
) -> Iterator[dict[str, object]]:
    """Yield the rows for one reference set and measure."""
    pairs = paired_columns(utility, retrieval)
    known = {cell: np.isfinite(x) & np.isfinite(y) for cell, (x, y) in pairs.items()}
    reasons = {cell: no_coefficient(x[known[cell]], y[known[cell]], names["measure"]) for cell, (x, y) in pairs.items()}
    defined = {cell: place for place, cell in enumerate(cell for cell in pairs if reasons[cell] is None)}
    draws = bootstrap.pearson_draws([pairs[cell] for cell in defined], resamples, seed) if defined else None
    for contrast in contrasts(list(pairs)):
        first, second = contrast.ends
        shared = np.array([known[cell] for cell in contrast.weights])
        row: dict[str, Any] = names | {
            "comparison": contrast.comparison,
            **dict(zip(("retriever", "ordering", "k"), first, strict=True)),
            **dict(zip(("against_retriever", "against_ordering", "against_k"), second, strict=True)),
            "n": int(shared.all(axis=0).sum()),
            "n_partial": int(shared.any(axis=0).sum() - shared.all(axis=0).sum()),
            "same_references": _same_references(contrast, names["references"]),
        }
        for name, end in (("value", first), ("against_value", second)):
            row[name] = float(draws.values[defined[end]]) if draws and end in defined else None
        missing = [reasons[cell] for cell in contrast.weights if reasons[cell] is not None]
        if draws is None or missing:
            yield row | {"reason": missing[0]}
            continue
        places, weights = [defined[cell] for cell in contrast.weights], np.array(list(contrast.weights.values()))
        difference, resampled, jackknife = (part[..., places] @ weights for part in draws)
        columns = {
            f"{name} of {retriever}, {ordering}, k = {k}": column[known[retriever, ordering, k]]
            for retriever, ordering, k in contrast.weights
            for name, column in zip(("utility", names["measure"]), pairs[retriever, ordering, k], strict=True)
        }
        # A query that no cell has changes nothing, so it doesn't count for the interval.
        yield row | _estimate(difference, resampled, jackknife[shared.any(axis=0)], columns) | {"resamples": resamples}


def _estimate(difference: float, draws: Array, jackknife: Array, columns: Mapping[str, Array]) -> dict[str, object]:
    n, value = len(jackknife), {"difference": float(difference)}
    if not np.nanmax(draws) - np.nanmin(draws) > ROUNDING:
        return value | {"reason": "the difference is the same in every resample"}
    low, high, reason = bootstrap.percentile_interval(draws, n, columns=columns)
    error = bootstrap.jackknife_error(jackknife)
    if not error > 0:
        return value | {"reason": f"{bootstrap.most_alike(columns)} is constant without one of them"}
    reach = float(special.stdtrit(n - 1, 0.975)) * error
    return value | {
        "low": value["difference"] - reach,
        "high": value["difference"] + reach,
        "p_value": float(2.0 * special.stdtr(n - 1, -abs(value["difference"]) / error)),
        "method": METHOD,
        "bootstrap_low": low,
        "bootstrap_high": high,
        "reason": None if reason is None else f"bootstrap: {reason}",
    }


def paired_columns(utility: pl.DataFrame, retrieval: pl.DataFrame) -> dict[ContextCell, tuple[Array, Array]]:
    """Return each cell's utility and measure (n,) for the same n queries in the same order; missing values are NaN."""
    keys = ["retriever", "ordering", "k"]
    qids = utility["qid"].unique().sort()
    joined = (
        utility.select(*keys, "qid", "utility")
        .join(retrieval.select("retriever", "k", "qid", "value"), on=["retriever", "k", "qid"], how="left")
        .join(pl.DataFrame({"qid": qids}).with_row_index("place"), on="qid")
    )
    pairs: dict[ContextCell, tuple[Array, Array]] = {}
    for (retriever, ordering, k), (place, *numbers) in by_cell(joined, keys, ["place", "utility", "value"]):
        pair = np.full((2, len(qids)), np.nan)
        pair[:, place.astype(np.intp)] = numbers
        pairs[retriever, ordering, k] = (pair[0], pair[1])
    return pairs


def _same_references(contrast: Contrast, references: str) -> bool:
    """Return whether all cells share references; an unseen set depends on the retriever and k, not on the ordering."""
    contexts = {(retriever, k) for retriever, _, k in contrast.weights}
    return len(contexts) == 1 or not references.endswith(UNSEEN)
