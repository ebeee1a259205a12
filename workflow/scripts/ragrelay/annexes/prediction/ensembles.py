"""Combine predictors in regressions, and evaluate the regressions by nested cross-validation over queries."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from ragrelay.analysis import bootstrap
from ragrelay.analysis.coefficients import ROUNDING, Array, pearson_features, pearson_left_out
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.prediction.best import NOT_BEYOND, WORTH_USING, rest_given
from ragrelay.annexes.prediction.cells import GAIN, PART, P, PredictedCell, stages
from ragrelay.annexes.prediction.predictor import AFTER_ANSWER
from ragrelay.base.vocabulary.columns import INTERVAL, REASON, STUDY_PART, integer, number, schema_of, text

FOLDS, INNER_FOLDS = 5, 3
QUERIES_AT_LEAST = 20
"""Minimum number of queries in a cell for nested cross-validation."""
PERMUTATIONS, PERMUTED_AT_ONCE = 999, 250
TAIL = ALPHA / 2
# Correlations are bounded, because larger ones have an infinite Fisher's z, except for rounding.
LARGEST_R = 1 - 1e-12
UNTESTED = "no test: permutations through its fits take too long"
KNOWN_AT_LEAST = 0.8
"""A predictor is used if it has a value for at least this share of the queries."""
PENALTIES = tuple(10.0**power for power in range(-1, 5))
ROUNDS = (10, 40)
SINGLE, RIDGE, LOG, BOOSTING = "best single", "ridge", "ridge of logs", "gradient boosting"
PRE, POST = "before generation", "after generation"
TABLE = {
    **{name: column for name, column in PART.items() if name != "predictor"},
    "known": text("predictors that the model may use: `before generation`, only predictors that don't need the answer "
                  "with context; `after generation`, all predictors"),
    "model": text("type of model: `best single` (the predictor with the largest |rho| on the training queries), "
                  "`ridge`, `ridge of logs` (a ridge regression on sign(x) · ln(1 + |x|) of each predictor x) or "
                  "`gradient boosting`"),
    "n": integer("number of queries", "queries"),
    "n_predictors": integer("number of predictors in the regression", "predictors"),
    "rho": number("Spearman's rho, over queries, between the target and its prediction by a model that was fitted on "
        "other queries", "−1 to 1"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the predictors carry no information "
        "about the target, from repeating the complete cross-validation with permuted targets; empty for `gradient "
        "boosting`"),
    "r_squared": number("1 − (squared error of the model / squared error of predicting the training queries' mean)"),
    "reason": REASON,
    "given_p0": number("for `gain`: partial rho between the predicted gain and P, given P₀", "−1 to 1"),
    "p_given_p0": number("uncorrected one-sided p-value for the null hypothesis that the predictors carry no "
        "information about P beyond P₀, from repeating the complete cross-validation with permuted residuals of P "
        "given P₀"),
    "rho_with_p": number("for `gain`: Spearman's rho between the predicted gain and P", "−1 to 1"),
    "p_with_p": number("uncorrected one-sided p-value for the null hypothesis that `rho_with_p` is 0"),
    "verdict": text("verdict: `worth using` if `rho` is above 0 with p < 0.05 and, for `gain`, `p_given_p0` and "
                    "`p_with_p` are also below 0.05; `not beyond P₀` if only the condition on `rho` holds; otherwise "
                    "`undecided`; empty if there is no test"),
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of prediction_ensembles.csv."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model. ``predict`` maps an array of predictors, with a row per query, to predictions."""

    predict: Callable[[Array], Array]


Chosen = npt.NDArray[np.bool_]
Model = Callable[[Array, Array, int], Fitted]
"""Fits predictors (n, predictors; NaN: missing) to a target (n,) with a seed; in COLUMNWISE, also to targets (n, m)."""


def folds(n: int, count: int, seed: int) -> list[Chosen]:
    """Assign ``n`` queries to ``count`` random folds, and return a mask (n,) for each fold."""
    order = np.random.default_rng([seed, n]).permutation(n) % count
    return [order == fold for fold in range(count)]


def best_single(x: Array, y: Array, seed: int) -> Fitted:
    """Fit a linear regression on the single predictor with the largest |rho| over the training queries."""
    filled = _filled(x, x)
    if y.ndim == 2:
        return _best_singles(filled, x, y)
    rhos = [0.0 if is_constant(column) else abs(stats.spearmanr(column, y).statistic) for column in filled.T]
    place = int(np.argmax(rhos))
    slope, intercept = (0.0, y.mean()) if not rhos[place] else np.polyfit(filled[:, place], y, 1)
    return Fitted(lambda rows: slope * _filled(rows, x)[:, place] + intercept)


def _best_singles(filled: Array, x: Array, y: Array) -> Fitted:
    """Fit best_single for each of several targets (n, m)."""
    varies = np.array([not is_constant(column) for column in filled.T])
    ranks, targets = (_unit(stats.rankdata(columns, axis=0)) for columns in (filled, y))
    places = (np.abs(ranks.T @ targets) * varies[:, None]).argmax(axis=0)
    chosen = filled[:, places]
    centred, mean = chosen - chosen.mean(axis=0), y.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    slopes = np.where(varies[places], (centred * y).sum(axis=0) / np.where(squares > 0, squares, 1.0), 0.0)
    return Fitted(lambda rows: mean + slopes * (_filled(rows, x)[:, places] - chosen.mean(axis=0)))


def ridge(x: Array, y: Array, seed: int, transform: Callable[[Array], Array] = lambda x: x) -> Fitted:
    """Fit a ridge regression on standardised predictors; leave-one-out cross-validation chooses the penalty."""
    from sklearn.linear_model import RidgeCV

    scaled = _Scaled(transform(x))
    model = RidgeCV(alphas=PENALTIES, alpha_per_target=y.ndim == 2).fit(scaled(transform(x)), y)
    return Fitted(lambda rows: model.predict(scaled(transform(rows))).reshape((len(rows), *y.shape[1:])))


def ridge_of_logs(x: Array, y: Array, seed: int) -> Fitted:
    """Fit a ridge regression on sign(x) ln(1 + |x|) for each predictor x; for x >= 0, this is the paper's ln(1 + x)."""
    return ridge(x, y, seed, lambda rows: np.sign(rows) * np.log1p(np.abs(rows)))


def boosting(x: Array, y: Array, seed: int) -> Fitted:
    """Fit gradient-boosted shallow trees; cross-validation on the training queries chooses the number of trees."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    def fit(rounds: int, rows: Array, target: Array) -> Any:
        model = HistGradientBoostingRegressor(
            max_iter=rounds, max_depth=2, min_samples_leaf=max(5, len(target) // 20), early_stopping=False,
            random_state=0,
        )  # fmt: skip
        return model.fit(rows, target).predict

    # With few queries, threads take more time than they save.
    with threadpool_limits(1):
        errors = dict.fromkeys(ROUNDS, 0.0)
        for tested in folds(len(y), INNER_FOLDS, seed + 1):
            for rounds in ROUNDS:
                errors[rounds] += ((y[tested] - fit(rounds, x[~tested], y[~tested])(x[tested])) ** 2).sum()
        return Fitted(fit(min(errors, key=errors.__getitem__), x, y))


MODELS: Mapping[str, Model] = {SINGLE: best_single, RIDGE: ridge, LOG: ridge_of_logs, BOOSTING: boosting}
COLUMNWISE = (SINGLE, RIDGE, LOG)
"""Names of models that can fit many targets at once, as permutation tests require."""


def out_of_fold(model: Model, x: Array, y: Array, seed: int) -> Array:
    """Predict each query's target with a model fitted on the other folds. The result has the shape of ``y``."""
    predicted = np.full(y.shape, np.nan)
    for tested in folds(len(y), FOLDS, seed):
        predicted[tested] = model(x[~tested], y[~tested], seed).predict(x[tested])
    return predicted


def mean_of_fitted(x: Array, y: Array, seed: int) -> Fitted:
    """Return a model that always predicts the training queries' mean target."""
    return Fitted(lambda rows: np.broadcast_to(y.mean(axis=0), (len(rows), *y.shape[1:])))


def centred_out_of_fold(model: Model, x: Array, y: Array, seed: int) -> Array:
    """Return out-of-fold predictions, each minus the mean target of the queries on which the model was trained.

    If held-out targets are high, this mean is low. Without the subtraction, pure noise would therefore have rho < 0.
    """
    return out_of_fold(model, x, y, seed) - out_of_fold(mean_of_fitted, x, y, seed)


def matrix(cell: PredictedCell, known: str) -> tuple[list[str], Array]:
    """Return names and values (n, predictors) of the predictors available at ``known`` (before or after generation)."""
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
    """Evaluate every model in each cell for P and for the gain, with predictors available before and after generation.

    Returns the columns in COLUMNS except STUDY_PART. Intervals and p-values, except p_with_p, are based on
    permutations. Gradient boosting isn't tested, because permutations would take too long.
    """
    rows = [row for cell in cells for row in _of_cell(cell, seed)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _of_cell(cell: PredictedCell, seed: int) -> Iterator[dict[str, object]]:
    for target in (P, GAIN):
        y = cell.targets[target]
        has = np.isfinite(y)
        for known in (PRE, POST):
            names, x = matrix(cell, known)
            row: dict[str, object] = {**cell.names, "target": target, "known": known, "n": int(has.sum()),
                                   "n_predictors": len(names)}  # fmt: skip
            for name, model in MODELS.items():
                tested = PERMUTATIONS if name in COLUMNWISE else 0
                result = row | {"model": name} | judged(model, x[has], y[has], seed, tested)
                if target == GAIN and "p_value" in result:
                    p = cell.targets[P][has]
                    result |= beyond(model, x[has], p, p - y[has], seed, tested)
                yield result | ({"verdict": _word(result, target)} if "p_value" in result else {})


def _word(row: Mapping[str, Any], target: str) -> str:
    if row["p_value"] >= ALPHA or row["rho"] <= 0:
        return UNDECIDED
    return WORTH_USING if target != GAIN or max(row["p_given_p0"], row["p_with_p"]) < ALPHA else NOT_BEYOND


def judged(model: Model, x: Array, y: Array, seed: int, permutations: int = PERMUTATIONS) -> dict[str, object]:
    """Return rho, its interval and p-value, and R squared for out-of-fold predictions, or why rho is missing.

    The models share training queries, so predictions aren't independent, and rho varies more than for independent
    pairs. The complete cross-validation is therefore repeated with permuted targets. The two-sided p-value compares rho
    with the resulting rhos, and is exact if the predictors are uninformative. The interval spans two intervals on
    Fisher's z: one from quantiles of these rhos (Hall's method), one from a jackknife over queries. This interval
    therefore excludes 0 only if p < 0.05. With 0 permutations, there is no interval and no p-value.
    """
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
    row: dict[str, object] = {"r_squared": float(1.0 - ((residual - predicted) ** 2).sum() / (residual**2).sum())}
    if is_constant(predicted):
        return row | {"reason": "all predictions are equal"}
    rho = float(stats.spearmanr(predicted, y).statistic)
    if not permutations:
        return row | {"rho": rho, "reason": UNTESTED}
    chance = permuted_rhos(model, x, y, seed, permutations)
    share = (1 + min((chance >= rho - ROUNDING).sum(), (chance <= rho + ROUNDING).sum())) / (1 + permutations)
    z = np.arctanh(np.clip(rho, -LARGEST_R, LARGEST_R))
    # The outermost rhos whose p-value isn't below 5%.
    place = int(np.ceil(TAIL * (1 + permutations))) - 1
    low, high = z - np.sort(np.arctanh(np.clip(chance, -LARGEST_R, LARGEST_R)))[[-place, place - 1]]
    features = pearson_features([(stats.rankdata(predicted), stats.rankdata(y))])
    tested = bootstrap.fisher_jackknife(rho, pearson_left_out(features)[:, 0])
    ends = [(float(np.tanh(low)), float(np.tanh(high))), (tested.low, tested.high)]
    low, high = min(end for end, _ in ends if end is not None), max(end for _, end in ends if end is not None)
    return row | {"rho": rho, "low": low, "high": high, "p_value": float(min(1.0, 2 * share))}


def permuted_rhos(model: Model, x: Array, y: Array, seed: int, permutations: int) -> Array:
    """Return the out-of-fold rho for each permutation of the target; ``model`` must accept targets of shape (n, m)."""

    def rhos(targets: Array) -> Array:
        predicted = centred_out_of_fold(model, x, targets, seed)
        ranks, of_targets = (_unit(stats.rankdata(columns, axis=0)) for columns in (predicted, targets))
        return (ranks * of_targets).sum(axis=0)

    return _of_permuted(y, rhos, seed, permutations)


def beyond(model: Model, x: Array, p: Array, p0: Array, seed: int, permutations: int) -> dict[str, float]:
    """Test whether out-of-fold predictions of the gain (``p`` - ``p0``) correlate with ``p`` given ``p0``.

    The gain contains P_0's noise, so predictions of this noise correlate with the gain even if contexts add nothing.
    given_p0 is the partial rho between predictions and P given P_0. P is regressed on P_0 and its square, the residuals
    are permuted ``permutations`` times, and the resulting gains are predicted (Freedman and Lane 1983). p_given_p0 is
    the share of partial rhos, the observed rho included, that are at least as large as the observed rho. A predictor of
    how easy queries are correlates with P even given P_0 (a noisy measure of ease), and predicts P_0's noise. However,
    the gains predicted from ease don't rise with P, so p_with_p (Student's t) tests whether rho_with_p is above 0.
    """
    left = rest_given(p0)
    design = np.column_stack([np.ones(len(p)), p0, p0**2])
    fitted = design @ np.linalg.lstsq(design, p)[0]

    def partial(answers: Array) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.ConstantInputWarning)
            predicted = centred_out_of_fold(model, x, answers - p0[:, None], seed)
        ranks, of_answers = (left(_unit(stats.rankdata(columns, axis=0))) for columns in (predicted, answers))
        return (ranks * of_answers).sum(axis=0)

    rho = float(partial(p[:, None])[0])
    with_p = stats.spearmanr(centred_out_of_fold(model, x, p - p0, seed), p, alternative="greater")
    chance = _of_permuted(p - fitted, lambda rest: partial(fitted[:, None] + rest), seed + 1, permutations)
    return {
        "given_p0": rho,
        "p_given_p0": float((1 + (chance >= rho - ROUNDING).sum()) / (1 + permutations)),
        "rho_with_p": float(with_p.statistic),
        "p_with_p": float(with_p.pvalue),
    }


def _of_permuted(y: Array, statistic: Callable[[Array], Array], seed: int, permutations: int) -> Array:
    """Return ``statistic`` (m,) for columns (n, m) that are permutations of ``y``: (permutations,)."""
    random, values = np.random.default_rng([seed, len(y)]), []
    for start in range(0, permutations, PERMUTED_AT_ONCE):
        count = min(PERMUTED_AT_ONCE, permutations - start)
        values.append(statistic(np.column_stack([random.permutation(y) for _ in range(count)])))
    return np.concatenate(values)


def _unit(ranks: Array) -> Array:
    """Return ranks as columns that are centred and of length 1, or 0 if all ranks are equal."""
    centred: Array = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return centred / np.where(length > ROUNDING, length, 1.0)


class _Scaled:
    """Fills missing values with the training rows' medians, and standardises columns as in these rows."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        filled = _filled(rows, rows)
        self.mean, deviation = filled.mean(axis=0), filled.std(axis=0)
        self.deviation = np.where(deviation > 0, deviation, 1.0)

    def __call__(self, rows: Array) -> Array:
        scaled: Array = (_filled(rows, self.rows) - self.mean) / self.deviation
        return scaled


def _filled(rows: Array, fitted: Array) -> Array:
    """Fill missing values of ``rows`` with the medians of ``fitted``, or with 0 if there is no median."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        medians = np.nan_to_num(np.nanmedian(fitted, axis=0))
    return np.where(np.isfinite(rows), rows, medians)
