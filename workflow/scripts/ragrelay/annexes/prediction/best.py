"""Find each cell's best predictor, and compare its rho with the best rhos for shuffled targets."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import ALPHA, holm
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.prediction.cells import GAIN, PART, UTILITY, P, PredictedCell, oriented
from ragrelay.base.vocabulary.columns import REASON, STUDY_PART, integer, number, schema_of, text

WORTH_USING, NOT_BEYOND = "worth using", "not beyond P₀"
QUERIES_AT_LEAST = 10
"""Minimum number of queries in a cell for a verdict."""
KNOWN_AT_LEAST = 0.8
CONTAIN_P0 = (GAIN, UTILITY)
# What rounding leaves of a column of length 1 that is fully explained.
CONSTANT_REST = 1e-9
TABLE = {
    **PART,
    "n": integer("number of queries with a value for the target", "queries"),
    "n_predictors": integer("number of predictors that have values for enough queries", "predictors"),
    "rho": number("Spearman's rho between the best predictor and the target, with the sign reversed for predictors "
        "whose lower values are better", "−1 to 1"),
    "chance": number("best rho expected by chance: the mean of the best rho over shuffles of the target, for the "
                     "same number of predictors", "−1 to 1"),
    "chance_high": number("95% quantile of the best rho over shuffles of the target, for the same number of "
        "predictors", "−1 to 1"),
    "p_value": number("p-value for the null hypothesis that no predictor is related to the target: the share of "
        "shuffles in which the best rho is at least as large as `rho`"),
    "p_holm": number("`p_value` after Holm's correction over all cells with the same target, not counting retrievers "
        "that draw from the judgements"),
    "verdict": text("verdict on the best predictor: `worth using`, `not beyond P₀` or `undecided`; empty for "
        "retrievers that draw from the judgements"),
    "reason": REASON,
    "given_p0": number("for `gain` and `utility`: partial rho between the best predictor and P, given P₀", "−1 to 1"),
    "chance_given_p0": number("best partial rho expected by chance: the mean of the best partial rho for an equal "
                              "number of predictors that carry no information about P beyond P₀", "−1 to 1"),
    "p_given_p0": number("p-value for the null hypothesis that no predictor carries information about P beyond P₀: the "
        "share of shuffles in which the best partial rho is at least as large as `given_p0`"),
    "p_given_p0_holm": number("`p_given_p0` after Holm's correction over the same cells as for `p_holm`"),
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of prediction_best.csv."""


def best_predictors(cells: Iterable[PredictedCell], rankings: Sequence[str], shuffles: int, seed: int) -> pl.DataFrame:
    """Find and test the best predictor for each cell and target.

    Returns the columns in COLUMNS except STUDY_PART. The largest rho of any predictor is compared with the largest rho
    for each shuffle of the target (Westfall and Young 1993), so the test accounts for the selection. Queries without a
    value for a predictor are given the middle rank. For retrievers in ``rankings``, a verdict is positive if p < 0.05
    after Holm's correction over the cells with the same target and reference set. Gain and utility contain P_0's noise,
    so predictors computed from the zero-shot answer correlate with gain and utility even if no context helps. For these
    targets, a predictor must also correlate with P given P_0; otherwise the verdict is `not beyond P₀`.
    """
    rows = [row for cell in cells for row in _of_cell(cell, shuffles, seed)]
    table = pl.DataFrame(rows, schema=SCHEMA)
    p_holm, beyond_holm = (_holm(table, rankings, name) for name in ("p_value", "p_given_p0"))
    said = [
        None if retriever not in rankings else _word(target, p, p_beyond)
        for retriever, target, p, p_beyond in zip(table["retriever"], table["target"], p_holm, beyond_holm, strict=True)
    ]
    made = (p_holm.alias("p_holm"), beyond_holm.alias("p_given_p0_holm"), pl.Series("verdict", said, dtype=pl.String))
    return table.with_columns(*made)


def _holm(table: pl.DataFrame, rankings: Sequence[str], name: str) -> pl.Series:
    places = table.with_row_index("place")
    counted = places.filter(pl.col("retriever").is_in(list(rankings)), pl.col(name).is_not_null())
    adjusted: dict[int, float] = {}
    for (_, _), part in counted.group_by("target", "references"):
        adjusted |= dict(zip(part["place"].to_list(), holm(part[name].to_numpy()).tolist(), strict=True))
    return pl.Series([adjusted.get(place) for place in range(table.height)], dtype=pl.Float64)


def _word(target: str, p: float | None, p_beyond: float | None) -> str:
    if p is None or p >= ALPHA:
        return UNDECIDED
    beyond = target not in CONTAIN_P0 or (p_beyond is not None and p_beyond < ALPHA)
    return WORTH_USING if beyond else NOT_BEYOND


def _of_cell(cell: PredictedCell, shuffles: int, seed: int) -> Iterator[dict[str, object]]:
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
            name: ranked
            for name, x in oriented(cell.predictors, target).items()
            if (ranked := _ranks(x[known])) is not None
        }
        if not ranks:
            yield row | {"reason": "no predictor has values"}
            continue
        of_predictors = np.column_stack(list(ranks.values()))
        row |= best(list(ranks), of_predictors, y[known], shuffles, seed)
        if target in CONTAIN_P0:
            p, gain = cell.targets[P][known], cell.targets[GAIN][known]
            row |= beyond_p0(of_predictors, p, p - gain, list(ranks).index(row["predictor"]), shuffles, seed)
        yield row


def best(names: Sequence[str], ranks: Array, y: Array, shuffles: int, seed: int) -> dict[str, object]:
    """Find the predictor that correlates best with ``y`` (n,), and test the correlation against shuffled ranks of
    ``y``. Each column of ``ranks`` (n, predictors) is centred and has unit length.
    """
    target = _unit(stats.rankdata(y))
    random = np.random.default_rng([seed, len(y)])
    shuffled = np.array([random.permutation(target) for _ in range(shuffles)])
    rhos, largest = target @ ranks, (shuffled @ ranks).max(axis=1)
    place = int(rhos.argmax())
    rho = float(rhos[place])
    return {
        "predictor": names[place],
        "n_predictors": len(names),
        "rho": rho,
        "chance": float(largest.mean()),
        "chance_high": float(np.quantile(largest, 0.95)),
        "p_value": float((1 + (largest >= rho - ROUNDING).sum()) / (1 + shuffles)),
    }


def beyond_p0(ranks: Array, p: Array, p0: Array, place: int, shuffles: int, seed: int) -> dict[str, object]:
    """Test whether the predictor in column ``place`` of ``ranks`` correlates with P given P_0 (partial rho).

    The ranks of P and of all predictors are regressed on P_0's rank and its square, because the relation needn't be
    linear. For the p-value, P's residuals are shuffled and regressed again (Freedman and Lane 1983). Each shuffle
    contributes the largest partial rho of all predictors, so the test accounts for choosing the best predictor.
    """
    left = rest_given(p0)
    predictors, rest = left(ranks), left(_unit(stats.rankdata(p)))
    random = np.random.default_rng([seed, len(p), 1])
    largest = (left(np.array([random.permutation(rest) for _ in range(shuffles)]).T).T @ predictors).max(axis=1)
    partial = float(rest @ predictors[:, place])
    return {
        "given_p0": partial,
        "chance_given_p0": float(largest.mean()),
        "p_given_p0": float((1 + (largest >= partial - ROUNDING).sum()) / (1 + shuffles)),
    }


def rest_given(p0: Array) -> Callable[[Array], Array]:
    """Return a function that regresses columns on ``p0``'s rank and squared rank, and scales the residuals to length 1.

    If P_0 determines a column completely, the column's residuals are 0.
    """
    of_p0 = _unit(stats.rankdata(p0))
    basis, triangle = np.linalg.qr(np.column_stack([np.ones(len(p0)), of_p0, of_p0**2]))
    # If P_0 has two values, its rank determines its square; if it is constant, both columns are 0.
    basis = basis[:, np.abs(np.diag(triangle)) > CONSTANT_REST]

    def left(columns: Array) -> Array:
        rest = columns - basis @ (basis.T @ columns)
        length = np.sqrt((rest**2).sum(axis=0))
        return np.asarray(rest * (length > CONSTANT_REST) / np.where(length > CONSTANT_REST, length, 1.0))

    return left


def _ranks(x: Array) -> Array | None:
    """Return centred ranks of length 1, or None for a column that is constant or has too few values."""
    known = np.isfinite(x)
    if known.mean() < KNOWN_AT_LEAST or is_constant(x[known]):
        return None
    ranks = np.zeros(len(x))
    ranks[known] = stats.rankdata(x[known])
    ranks[known] -= ranks[known].mean()
    return _unit(ranks)


def _unit(ranks: Array) -> Array:
    """Return centred ``ranks`` of length 1, or 0 if they are all equal."""
    centred: Array = ranks - ranks.mean()
    return centred / (np.sqrt((centred**2).sum()) or 1.0)
