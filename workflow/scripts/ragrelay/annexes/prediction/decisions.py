"""Use predictions to decide, for each query, whether to use a context, and which k or retriever to use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.annexes.prediction.cells import GAIN, P, PredictedCell, oriented
from ragrelay.annexes.prediction.ensembles import PRE, QUERIES_AT_LEAST, centred_out_of_fold, matrix, out_of_fold, ridge
from ragrelay.base.vocabulary.columns import (
    CELL_COLUMNS,
    INTERVAL,
    REASON,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)

SHARES = tuple(tenth / 10 for tenth in range(11))
ENSEMBLE = "ridge, before generation"
CURVE = {
    **CELL_COLUMNS,
    "predictor": text("criterion by which queries are sorted: a predictor, `ridge, before generation` (the gain "
                      "predicted by a regression on other queries), `oracle` (the gain itself) or `chance`"),
    "share": number("share of queries that are answered with their context; the queries with the best predictions come "
                    "first", "0 to 1"),
    "mean_p": number("mean score over all queries: P for queries answered with their context, P₀ for the "
                     "others", "the scorer's"),
    **INTERVAL,
    "n": integer("number of queries", "queries"),
}  # fmt: skip
CURVE_SCHEMA = schema_of(CURVE)
CURVE_COLUMNS = {**STUDY_PART, **CURVE}
"""Columns of prediction_curve.csv."""
ORACLE, CHANCE = "oracle", "chance"
POLICIES = {
    "choice": text("decision that is made for each query: `context or none`, `k` or `retriever`"),
    "retriever": CELL_COLUMNS["retriever"]._replace(about="name of the retriever; empty if the policy chooses it"),
    "k": CELL_COLUMNS["k"]._replace(about="number of passages in the context; empty if the policy chooses k"),
    "ordering": CELL_COLUMNS["ordering"],
    "references": CELL_COLUMNS["references"],
    "policy": text("rule for choosing: `predicted`, the option with the best prediction from a ridge regression on "
                   "other queries; `always …` and `never`, the same option for all queries; `oracle`, the best option "
                   "for each query"),
    "mean_p": number("mean P over queries with the policy's choices", "the scorer's"),
    "regret": number("mean P with the oracle's choices minus mean P with the policy's choices", "the scorer's"),
    **INTERVAL,
    "better_than_fixed": number("mean P with the predicted option minus mean P with the best fixed option", "the "
                                                                                                            "scorer's"),
    "fixed_low": number("lower end of the 95% interval for `better_than_fixed`"),
    "fixed_high": number("upper end of the 95% interval for `better_than_fixed`"),
    "fixed_p": number("two-sided p-value for the null hypothesis that `better_than_fixed` is 0"),
    "n": integer("number of queries", "queries"),
    "reason": REASON,
}  # fmt: skip
POLICIES_SCHEMA = schema_of(POLICIES)
POLICIES_COLUMNS = {**STUDY_PART, **POLICIES}
"""Columns of prediction_policies.csv."""
USE, BY_K, BY_RETRIEVER = "context or none", "k", "retriever"


def curves(cells: Iterable[PredictedCell], seed: int) -> pl.DataFrame:
    """Compute selective-retrieval curves: mean P against the share of queries answered with context.

    Returns the columns in CURVE_COLUMNS except STUDY_PART. Intervals for mean P contain both Student's and Hall's
    intervals. The curve for chance is a straight line. Ties between predictions are broken by query id.
    """
    rows = [row for cell in cells for row in _curves(cell, seed)]
    return pl.DataFrame(rows, schema=CURVE_SCHEMA)


def _curves(cell: PredictedCell, seed: int) -> Iterator[dict[str, object]]:
    p, gain = cell.targets[P], cell.targets[GAIN]
    known = np.isfinite(gain)
    p, gain, n = p[known], gain[known], int(known.sum())
    if n < QUERIES_AT_LEAST:
        return
    _, x = matrix(cell, PRE)
    orders = {name: column[known] for name, column in oriented(cell.predictors, GAIN).items()}
    orders |= (
        {ENSEMBLE: centred_out_of_fold(ridge, x[known], gain, seed)} if x.shape[1] and not is_constant(gain) else {}
    )
    for name, order in (orders | {ORACLE: gain}).items():
        if not np.isfinite(order).any():
            continue
        # Queries without a value come last.
        first = np.argsort(-np.nan_to_num(order, nan=-np.inf), kind="stable")
        for share in SHARES:
            used = np.zeros(n, dtype=bool)
            used[first[: round(share * n)]] = True
            yield {**cell.names, "predictor": name, "share": share, "n": n, **_mean(np.where(used, p, p - gain))}
    for share in SHARES:
        yield {
            **cell.names,
            "predictor": CHANCE,
            "share": share,
            "n": n,
            "mean_p": float((p - (1 - share) * gain).mean()),
        }


def policies(cells: Sequence[PredictedCell], seed: int) -> pl.DataFrame:
    """Compute each policy's regret against the oracle, and compare predicted choices with the best fixed option.

    Returns the columns in POLICIES_COLUMNS except STUDY_PART. Each option's P, or the gain if the choice is between
    context and no context, is predicted by ridge regressions that use predictors available before generation and are
    fitted on other folds of queries. The best fixed option is chosen on the evaluated queries, which favours it.
    """
    rows = [row for cell in cells for row in _use(cell, seed)]
    for choice, shared in ((BY_K, "retriever"), (BY_RETRIEVER, "k")):
        groups: dict[tuple[object, ...], list[PredictedCell]] = {}
        for cell in cells:
            groups.setdefault(tuple(cell.names[name] for name in (shared, "ordering", "references")), []).append(cell)
        for key, group in groups.items():
            if len(group) > 1:
                names = dict(zip((shared, "ordering", "references"), key, strict=True))
                rows += _among(choice, names, group, seed)
    return pl.DataFrame(rows, schema=POLICIES_SCHEMA)


def _use(cell: PredictedCell, seed: int) -> Iterator[dict[str, Any]]:
    gain, p = cell.targets[GAIN], cell.targets[P]
    known = np.isfinite(gain)
    _, x = matrix(cell, PRE)
    names = {"choice": USE, **cell.names}
    if (reason := _too_few(x, known)) is not None:
        yield names | {"policy": "predicted", "n": int(known.sum()), "reason": reason}
        return
    predicted = _predicted(x[known], gain[known], seed)
    options = np.column_stack([p[known] - gain[known], p[known]])
    yield from _regrets(names, options, ["never", "always"], (predicted > 0).astype(int))


def _among(
    choice: str, names: Mapping[str, object], group: Sequence[PredictedCell], seed: int
) -> Iterator[dict[str, object]]:
    qids = sorted(set.intersection(*(set(cell.qids) for cell in group)))
    places = [[list(cell.qids).index(qid) for qid in qids] for cell in group]
    p = np.column_stack([cell.targets[P][place] for cell, place in zip(group, places, strict=True)])
    known = np.asarray(np.isfinite(p).all(axis=1))
    predictions, reason = [], None
    for cell, place, target in zip(group, places, p.T, strict=True):
        x = matrix(cell, PRE)[1][place]
        reason = reason or _too_few(x, known)
        if reason is None:
            predictions.append(_predicted(x[known], target[known], seed))
    named = {"choice": choice, **names}
    if reason is not None:
        yield named | {"policy": "predicted", "n": int(known.sum()), "reason": reason}
        return
    what = "k" if choice == BY_K else "retriever"
    fixed = [f"always {cell.names[what]}" for cell in group]
    yield from _regrets(named, p[known], fixed, np.column_stack(predictions).argmax(axis=1))


def _predicted(x: Array, y: Array, seed: int) -> Array:
    return np.full(len(y), y.mean()) if is_constant(y) else out_of_fold(ridge, x, y, seed)


def _too_few(x: Array, known: np.ndarray) -> str | None:
    if known.sum() < QUERIES_AT_LEAST:
        return f"fewer than {QUERIES_AT_LEAST} queries"
    return None if x.shape[1] else "no predictor has values"


def _regrets(
    names: Mapping[str, object], options: Array, fixed: Sequence[str], chosen: np.ndarray
) -> Iterator[dict[str, object]]:
    """Return regrets.

    ``options``: P by query and option; ``fixed``: names of fixed options; ``chosen``: predicted options.
    """
    oracle, n = options.max(axis=1), len(options)
    best = options[:, int(options.mean(axis=0).argmax())]
    predicted = options[np.arange(n), chosen]
    policies = {"predicted": predicted, **dict(zip(fixed, options.T, strict=True)), ORACLE: oracle}
    for name, p in policies.items():
        row = {**names, "policy": name, "n": n, "mean_p": float(p.mean()), **_mean(oracle - p, "regret")}
        if name == "predicted":
            lead = _mean(predicted - best, "value")
            row |= {"better_than_fixed": lead["value"], "fixed_low": lead["low"], "fixed_high": lead["high"]}
            row["fixed_p"] = None if is_constant(predicted - best) else _p_value(predicted - best)
        yield row


def _mean(column: Array, name: str = "mean_p") -> dict[str, float | None]:
    """Return the mean of a column (n,) under ``name``, with its interval."""
    mean = float(column.mean())
    if is_constant(column):
        return {name: mean, "low": None, "high": None}
    low, high = mean_tests.Means.of(column[:, None]).interval()
    return {name: mean, "low": float(low[0]), "high": float(high[0])}


def _p_value(column: Array) -> float:
    return float(mean_tests.Means.of(column[:, None]).p_value()[0])
