"""Train regressions on one dataset's queries, and test them on another dataset's queries."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis import bootstrap
from ragrelay.analysis.coefficients import Array, pearson_features, pearson_left_out
from ragrelay.analysis.correlation import is_constant
from ragrelay.annexes.prediction.cells import GAIN, P, PredictedCell, predicted_cells
from ragrelay.annexes.prediction.ensembles import MODELS, POST, PRE, QUERIES_AT_LEAST, Model, matrix
from ragrelay.annexes.prediction.ensembles import TABLE as OF_ENSEMBLES
from ragrelay.base.vocabulary.columns import STUDY_PART, integer, schema_of, text

OF_NESTED_ALONE = ("r_squared", "given_p0", "p_given_p0", "rho_with_p", "p_with_p", "verdict")
TABLE = {
    "trained_on": text("name of the dataset on whose queries the model was fitted and tuned"),
    "n_trained": integer("number of queries on which the model was fitted and tuned", "queries"),
    **{name: column for name, column in OF_ENSEMBLES.items() if name not in OF_NESTED_ALONE},
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of prediction_transfer.csv."""
Files = Mapping[str, Mapping[str, str | Path]]
"""Files keyed by dataset, then by retriever."""


def transfer_predictions(
    predictions: Files, utility: Mapping[str, str | Path], retrieval: Files, measure: str, tested: str, seed: int
) -> pl.DataFrame:
    """Train regressions on every other dataset (if any), and test the regressions on ``tested``."""
    if len(utility) < 2:
        return pl.DataFrame(schema=SCHEMA)
    cells = {dataset: list(first_cells(predictions[dataset], utility[dataset], retrieval[dataset], measure))
             for dataset in utility}  # fmt: skip
    return transfers({name: own for name, own in cells.items() if name != tested}, cells[tested], seed)


def first_cells(
    predictions: Mapping[str, str | Path], utility: str | Path, retrieval: Mapping[str, str | Path], measure: str
) -> Iterator[PredictedCell]:
    """Yield a dataset's cells, for the first reference set only."""
    tables = {name: pl.read_parquet(path) for name, path in predictions.items()}
    measures = {name: pl.read_parquet(path) for name, path in retrieval.items()}
    cells = list(predicted_cells(tables, pl.read_parquet(utility), measures, measure))
    yield from (cell for cell in cells if cell.names["references"] == cells[0].names["references"])


def transfers(
    trained: Mapping[str, Iterable[PredictedCell]], tested: Sequence[PredictedCell], seed: int
) -> pl.DataFrame:
    """Fit models in each cell of every training dataset, and test them in the same cell of the tested dataset.

    Returns the columns in COLUMNS except STUDY_PART. ``trained``: cells keyed by training dataset. Everything in a
    model comes from the training dataset: medians for missing values, scales, penalties and numbers of trees. The
    interval and p-value come from a jackknife of Fisher's z over the tested queries; models aren't refitted.
    """
    rows = []
    for dataset, cells in trained.items():
        by_place = {_place(cell): cell for cell in cells}
        for cell in tested:
            if known := by_place.get(_place(cell)):
                rows += [{"trained_on": dataset, **row} for row in _of_cells(known, cell, seed)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _place(cell: PredictedCell) -> tuple[object, ...]:
    return tuple(cell.names[name] for name in ("retriever", "ordering", "k"))


def _of_cells(trained: PredictedCell, tested: PredictedCell, seed: int) -> Iterator[dict[str, object]]:
    for target in (P, GAIN):
        y, other = trained.targets[target], tested.targets[target]
        has, others = np.isfinite(y), np.isfinite(other)
        for known in (PRE, POST):
            names, x = matrix(trained, known)
            both = [place for place, name in enumerate(names) if np.isfinite(tested.predictors.get(name, np.nan)).any()]
            columns = [tested.predictors[names[place]] for place in both]
            unseen = np.column_stack(columns) if columns else np.empty((len(other), 0))
            row: dict[str, object] = {**tested.names, "target": target, "known": known, "n": int(others.sum()),
                                   "n_trained": int(has.sum()), "n_predictors": len(both)}  # fmt: skip
            data = (x[has][:, both], y[has], unseen[others], other[others])
            for name, model in MODELS.items():
                yield row | {"model": name} | judged_elsewhere(model, *data, seed)


def judged_elsewhere(model: Model, x: Array, y: Array, unseen: Array, target: Array, seed: int) -> dict[str, object]:
    """Fit a model on ``x`` and ``y``, and return rho between ``target`` and the model's predictions for ``unseen``."""
    if min(len(y), len(target)) < QUERIES_AT_LEAST:
        return {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    if not x.shape[1]:
        return {"reason": "no predictor has values in both datasets"}
    if is_constant(y) or is_constant(target):
        return {"reason": "the target is constant"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        predicted = model(x, y, seed).predict(unseen)
    if is_constant(predicted):
        return {"reason": "all predictions are equal"}
    rho = float(stats.spearmanr(predicted, target).statistic)
    features = pearson_features([(stats.rankdata(predicted), stats.rankdata(target))])
    tested = bootstrap.fisher_jackknife(rho, pearson_left_out(features)[:, 0])
    return {"rho": rho, "low": tested.low, "high": tested.high, "p_value": tested.p_value}
