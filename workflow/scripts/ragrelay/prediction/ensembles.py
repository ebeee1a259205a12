"""Predictors combined by regression, by nested cross-validation: judged on queries that fitted and chose nothing."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from ragrelay.analysis import bootstrap
from ragrelay.analysis.coefficients import Array, pearson_features, pearson_left_out
from ragrelay.analysis.correlation import is_constant
from ragrelay.prediction.cells import GAIN, PART, P, PredictedCell, stages
from ragrelay.prediction.predictor import AFTER_ANSWER
from ragrelay.vocabulary.columns import INTERVAL, REASON, STUDY_PART, real, schema_of, text, whole

FOLDS, INNER_FOLDS = 5, 3
QUERIES_AT_LEAST = 20
"""Fewer are too few for folds within folds."""
KNOWN_AT_LEAST = 0.8
"""A predictor takes part where so many of the queries have a value."""
PENALTIES = tuple(10.0**power for power in range(-1, 5))
ROUNDS = (10, 40)
SINGLE, RIDGE, LOG, BOOSTING = "best single", "ridge", "ridge of logs", "gradient boosting"
PRE, POST = "before generation", "after generation"
TABLE = {
    **{name: column for name, column in PART.items() if name != "predictor"},
    "known": text("`before generation`: predictors that need no answer to the context; `after generation`: all"),
    "model": text("`best single`: the predictor with the largest |rho| on the fitted queries; `ridge`; "
                  "`ridge of logs`: of sign(x) · ln(1 + |x|); `gradient boosting`"),
    "n": whole("queries", "queries"),
    "n_predictors": whole("predictors that take part", "predictors"),
    "rho": real("Spearman's rho over queries of the target and its prediction, made without the query", "−1 to 1"),
    **INTERVAL,
    "p_value": real("two-sided p-value of rho = 0, uncorrected"),
    "r_squared": real("1 less the squared error over that of the mean of the fitted queries"),
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Those of prediction_ensembles.csv."""


@dataclass(frozen=True)
class Fitted:
    """What a model made of fitted queries says of others: rows of predictors to predictions."""

    predict: Callable[[Array], Array]


Chosen = npt.NDArray[np.bool_]
Model = Callable[[Array, Array, int], Fitted]
"""Of predictors (n, predictors; NaN where missing), target (n,) and a seed."""


def folds(n: int, count: int, seed: int) -> list[Chosen]:
    """The fold (0 ... count - 1) of each of n queries, in one array per fold: True where the query is in it."""
    order = np.random.default_rng([seed, n]).permutation(n) % count
    return [order == fold for fold in range(count)]


def best_single(x: Array, y: Array, seed: int) -> Fitted:
    """A line on the predictor with the largest |rho| of the fitted queries."""
    filled = _filled(x, x)
    rhos = [0.0 if is_constant(column) else abs(stats.spearmanr(column, y).statistic) for column in filled.T]
    place = int(np.argmax(rhos))
    slope, intercept = (0.0, y.mean()) if not rhos[place] else np.polyfit(filled[:, place], y, 1)
    return Fitted(lambda rows: slope * _filled(rows, x)[:, place] + intercept)


def ridge(x: Array, y: Array, seed: int, transform: Callable[[Array], Array] = lambda x: x) -> Fitted:
    """Ridge regression of standardised predictors, its penalty by leaving out each of the fitted queries."""
    from sklearn.linear_model import RidgeCV

    scaled = _Scaled(transform(x))
    model = RidgeCV(alphas=PENALTIES).fit(scaled(transform(x)), y)
    return Fitted(lambda rows: model.predict(scaled(transform(rows))))


def ridge_of_logs(x: Array, y: Array, seed: int) -> Fitted:
    """As ridge, of sign(x) ln(1 + |x|), which is the paper's ln(1 + x) where x is not negative."""
    return ridge(x, y, seed, lambda rows: np.sign(rows) * np.log1p(np.abs(rows)))


def boosting(x: Array, y: Array, seed: int) -> Fitted:
    """Gradient boosting of shallow trees, their number by cross-validation within the fitted queries."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    def fit(rounds: int, rows: Array, target: Array) -> Any:
        model = HistGradientBoostingRegressor(
            max_iter=rounds, max_depth=2, min_samples_leaf=max(5, len(target) // 20), early_stopping=False,
            random_state=0,
        )  # fmt: skip
        return model.fit(rows, target).predict

    # Threads cost more than they bring on so few queries.
    with threadpool_limits(1):
        errors = dict.fromkeys(ROUNDS, 0.0)
        for tested in folds(len(y), INNER_FOLDS, seed + 1):
            for rounds in ROUNDS:
                errors[rounds] += ((y[tested] - fit(rounds, x[~tested], y[~tested])(x[tested])) ** 2).sum()
        return Fitted(fit(min(errors, key=errors.__getitem__), x, y))


MODELS: Mapping[str, Model] = {SINGLE: best_single, RIDGE: ridge, LOG: ridge_of_logs, BOOSTING: boosting}


def out_of_fold(model: Model, x: Array, y: Array, seed: int) -> Array:
    """The prediction of each query (n,) by a model of the other folds; nothing of the query was seen there."""
    predicted = np.full(len(y), np.nan)
    for tested in folds(len(y), FOLDS, seed):
        predicted[tested] = model(x[~tested], y[~tested], seed).predict(x[tested])
    return predicted


def mean_of_fitted(x: Array, y: Array, seed: int) -> Fitted:
    """The mean of the fitted queries for all others."""
    return Fitted(lambda rows: np.full(len(rows), y.mean()))


def centred_out_of_fold(model: Model, x: Array, y: Array, seed: int) -> Array:
    """Predictions as of out_of_fold, each less the mean of the queries that its model was fitted on.

    That mean is the lower the higher the tested queries are, so that with it noise has a rho below 0.
    """
    return out_of_fold(model, x, y, seed) - out_of_fold(mean_of_fitted, x, y, seed)


def matrix(cell: PredictedCell, known: str) -> tuple[list[str], Array]:
    """Names and columns (n, predictors) of the predictors that take part before or after generation."""
    of_stage = stages(cell.predictors)
    names = [
        name
        for name, x in cell.predictors.items()
        if (known == POST or of_stage[name] != AFTER_ANSWER)
        and np.isfinite(x).mean() >= KNOWN_AT_LEAST
        and not is_constant(x[np.isfinite(x)])
    ]
    return names, np.column_stack([cell.predictors[name] for name in names]) if names else np.empty((len(cell.qids), 0))


def ensembles(cells: Iterable[PredictedCell], seed: int) -> pl.DataFrame:
    """A row (COLUMNS, without the part of the study) per cell, target (`p` and `gain`), model and what is known.

    The interval and the p-value are of a jackknife over queries on Fisher's z, with the predictions as they are.
    """
    rows = [row for cell in cells for row in _of_cell(cell, seed)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _of_cell(cell: PredictedCell, seed: int) -> Iterator[dict[str, Any]]:
    for target in (P, GAIN):
        y = cell.targets[target]
        has = np.isfinite(y)
        for known in (PRE, POST):
            names, x = matrix(cell, known)
            row: dict[str, Any] = {**cell.names, "target": target, "known": known, "n": int(has.sum()),
                                   "n_predictors": len(names)}  # fmt: skip
            for name, model in MODELS.items():
                yield row | {"model": name} | judged(model, x[has], y[has], seed)


def judged(model: Model, x: Array, y: Array, seed: int) -> dict[str, Any]:
    """rho of out-of-fold predictions with the target, its interval and p-value, and R squared; or the reason."""
    if len(y) < QUERIES_AT_LEAST:
        return {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    if not x.shape[1]:
        return {"reason": "no predictor has values"}
    if is_constant(y):
        return {"reason": "the target is constant"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        predicted = centred_out_of_fold(model, x, y, seed)
    residual = y - out_of_fold(mean_of_fitted, x, y, seed)
    row: dict[str, Any] = {"r_squared": float(1.0 - ((residual - predicted) ** 2).sum() / (residual**2).sum())}
    if is_constant(predicted):
        return row | {"reason": "all predictions are equal"}
    rho = float(stats.spearmanr(predicted, y).statistic)
    features = pearson_features([(stats.rankdata(predicted), stats.rankdata(y))])
    tested = bootstrap.fisher_jackknife(rho, pearson_left_out(features)[:, 0])
    return row | {"rho": rho, "low": tested.low, "high": tested.high, "p_value": tested.p_value}


class _Scaled:
    """Columns filled with the fitted ones' medians, centred and divided as these are."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        filled = _filled(rows, rows)
        self.mean, deviation = filled.mean(axis=0), filled.std(axis=0)
        self.deviation = np.where(deviation > 0, deviation, 1.0)

    def __call__(self, rows: Array) -> Array:
        scaled: Array = (_filled(rows, self.rows) - self.mean) / self.deviation
        return scaled


def _filled(rows: Array, fitted: Array) -> Array:
    """``rows`` with the medians of ``fitted`` where they have no value; 0 where these have none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        medians = np.nan_to_num(np.nanmedian(fitted, axis=0))
    return np.where(np.isfinite(rows), rows, medians)
