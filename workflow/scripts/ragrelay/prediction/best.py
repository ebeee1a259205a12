"""The best predictor of each cell, held against the best of as many on shuffled queries."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import ALPHA, holm
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.prediction.cells import PART, PredictedCell, oriented
from ragrelay.vocabulary.columns import REASON, STUDY_PART, real, schema_of, text, whole

WORTH_USING = "worth using"
QUERIES_AT_LEAST = 10
"""Fewer decide nothing."""
KNOWN_AT_LEAST = 0.8
TABLE = {
    **PART,
    "n": whole("queries with the target", "queries"),
    "n_predictors": whole("predictors that are known of enough queries", "predictors"),
    "rho": real("Spearman's rho of the best predictor, its sign turned where less is better", "−1 to 1"),
    "chance": real("mean of the best rho of as many predictors where the target is shuffled over queries", "−1 to 1"),
    "chance_high": real("95% quantile of the same", "−1 to 1"),
    "p_value": real("share of the shuffles whose best rho is as large: of no predictor at all being related"),
    "p_holm": real("`p_value` after Holm's correction over the cells of the target, of retrievers that rank"),
    "verdict": text("`worth using` or `undecided`; empty of retrievers that draw from the judgements"),
    "reason": REASON,
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Those of prediction_best.csv."""


def best_predictors(cells: Iterable[PredictedCell], rankings: Sequence[str], shuffles: int, seed: int) -> pl.DataFrame:
    """A row (COLUMNS, without the part of the study) per cell and target.

    The test compares the largest rho with the largest one on shuffled targets (Westfall and Young 1993), so that the
    choice of the best and the likeness of predictors count. A query without a predictor's value has its middle rank.
    The word is said where p < 0.05 after Holm's correction over the cells of a target and reference set, of the
    retrievers ``rankings``.
    """
    rows = [row for cell in cells for row in _of_cell(cell, shuffles, seed)]
    table = pl.DataFrame(rows, schema=SCHEMA).with_row_index("place")
    counted = table.filter(pl.col("retriever").is_in(list(rankings)), pl.col("p_value").is_not_null())
    adjusted: dict[int, float] = {}
    for (_, _), part in counted.group_by("target", "references"):
        adjusted |= dict(zip(part["place"].to_list(), holm(part["p_value"].to_numpy()).tolist(), strict=True))
    p_holm = pl.Series("p_holm", [adjusted.get(place) for place in range(table.height)], dtype=pl.Float64)
    said = [
        None if retriever not in rankings else WORTH_USING if p is not None and p < ALPHA else UNDECIDED
        for retriever, p in zip(table["retriever"], p_holm, strict=True)
    ]
    return table.with_columns(p_holm, pl.Series("verdict", said, dtype=pl.String)).drop("place")


def _of_cell(cell: PredictedCell, shuffles: int, seed: int) -> Iterator[dict[str, Any]]:
    for target, y in cell.targets.items():
        known = np.isfinite(y)
        row: dict[str, Any] = {**cell.names, "target": target, "n": int(known.sum())}
        if known.sum() < QUERIES_AT_LEAST:
            yield row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
            continue
        if is_constant(y[known]):
            yield row | {"reason": "the target is constant"}
            continue
        ranks = {
            name: found
            for name, x in oriented(cell.predictors, target).items()
            if (found := _ranks(x[known])) is not None
        }
        if not ranks:
            yield row | {"reason": "no predictor has values"}
            continue
        yield row | best(list(ranks), np.column_stack(list(ranks.values())), y[known], shuffles, seed)


def best(names: Sequence[str], ranks: Array, y: Array, shuffles: int, seed: int) -> dict[str, Any]:
    """Of predictors' centred unit ``ranks`` (n, predictors) the one that follows ``y`` (n,) best, next to chance."""
    target = _unit(stats.rankdata(y))
    random = np.random.default_rng([seed, len(y)])
    shuffled = np.array([random.permutation(target) for _ in range(shuffles)])
    rhos, largest = target @ ranks, (shuffled @ ranks).max(axis=1)
    place = int(rhos.argmax())
    found = float(rhos[place])
    return {
        "predictor": names[place],
        "n_predictors": len(names),
        "rho": found,
        "chance": float(largest.mean()),
        "chance_high": float(np.quantile(largest, 0.95)),
        "p_value": float((1 + (largest >= found - ROUNDING).sum()) / (1 + shuffles)),
    }


def _ranks(x: Array) -> Array | None:
    """Centred ranks of length 1; None for a column of which too little is known, or that is constant."""
    known = np.isfinite(x)
    if known.mean() < KNOWN_AT_LEAST or is_constant(x[known]):
        return None
    ranks = np.zeros(len(x))
    ranks[known] = stats.rankdata(x[known])
    ranks[known] -= ranks[known].mean()
    return _unit(ranks)


def _unit(ranks: Array) -> Array:
    centred: Array = ranks - ranks.mean()
    return centred / np.sqrt((centred**2).sum())
