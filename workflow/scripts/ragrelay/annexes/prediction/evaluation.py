"""Compute all tables that evaluate predictions for a dataset, generator and scorer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.prediction.accuracy import accuracies, predictor_comparisons, query_errors
from ragrelay.annexes.prediction.best import best_predictors
from ragrelay.annexes.prediction.cells import evaluated_ordering, predicted_cells
from ragrelay.annexes.prediction.correlations import (
    RESAMPLES_AT_MOST,
    given_p0,
    predictor_correlations,
    predictors_within_queries,
)
from ragrelay.annexes.prediction.decisions import curves, policies
from ragrelay.annexes.prediction.ensembles import ensembles

File = str | Path


def evaluate_predictions(
    predictions: Mapping[str, File],
    utility: File,
    retrieval: Mapping[str, File],
    kinds: Mapping[str, str],
    rankings: Sequence[str],
    measure: str,
    resamples: int,
    seed: int,
) -> dict[str, pl.DataFrame]:
    """Return the result tables and the table ``sare``, keyed by name, without the columns in STUDY_PART.

    ``predictions`` and ``retrieval``: files keyed by retriever; ``kinds``: each retriever's kind; ``rankings``: the
    retrievers that don't use the judgements; ``measure``: the retrieval measure, which is also a target.
    """
    tables = {name: pl.read_parquet(path) for name, path in predictions.items()}
    scored = pl.read_parquet(utility)
    measures = {name: pl.read_parquet(path) for name, path in retrieval.items()}
    ordering = evaluated_ordering(scored.filter(pl.col("k") > 0)["ordering"].unique(maintain_order=True).to_list())
    cells = list(predicted_cells(tables, scored, measures, measure))
    # One reference set is enough, since regressions take long and differ little between sets.
    first = [cell for cell in cells if cell.names["references"] == cells[0].names["references"]]
    return {
        "prediction_best": best_predictors(cells, rankings, RESAMPLES_AT_MOST, seed),
        "prediction_correlation": predictor_correlations(cells, resamples, seed),
        "prediction_given_p0": given_p0(tables, scored, ordering),
        "prediction_within": predictors_within_queries(tables, scored, ordering, kinds),
        "prediction_accuracy": accuracies(cells),
        "sare": query_errors(cell for cell in first if cell.names["k"] == max(other.names["k"] for other in first)),
        "prediction_comparison": predictor_comparisons(cells, measure),
        "prediction_ensembles": ensembles(first, seed),
        "prediction_curve": curves(cells, seed),
        "prediction_policies": policies(cells, seed),
    }
