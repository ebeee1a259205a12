"""Correlate predictors with targets over queries (also given P_0) and over each query's contexts."""

from collections.abc import Iterable, Mapping

import polars as pl

from ragrelay.analysis import correlation, coupling, multiplicity, within
from ragrelay.analysis.correlation import PairedColumns, correlate, no_coefficient
from ragrelay.annexes.prediction.cells import KEYS, PART, PREDICTOR, PredictedCell, stages
from ragrelay.annexes.prediction.predictor import BEFORE_RETRIEVAL
from ragrelay.annexes.prediction.predictors.answers import PREFIX
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, STUDY_PART, adjusted, schema_of
from ragrelay.base.vocabulary.names import UNSEEN

RESAMPLES_AT_MOST = 2_000
"""Maximum resamples and permutations for each of the many correlations with predictors."""
FAMILY = (*KEYS, "coefficient")
LEFT_OUT = ("measure", "subset", *CELL_COLUMNS)
TABLE = {**PART, **{n: c for n, c in correlation.TABLE.items() if n not in (*LEFT_OUT, "n_null", "n_unmeasured")}}
TABLE["value"] = TABLE["value"]._replace(about="correlation over queries between the predictor and the target")
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted(correlation.P_VALUES)}
"""Columns of prediction_correlation.csv."""
PARTIAL = {name: column for name, column in coupling.TABLE.items() if name.startswith("partial_")}
GIVEN_P0 = {**STUDY_PART, **CELL_COLUMNS, "predictor": PREDICTOR, "n": coupling.TABLE["n"],
            **{name: column._replace(about=column.about.replace("the measure", "the predictor"))
               for name, column in PARTIAL.items()},
            "method": coupling.TABLE["method"], "reason": coupling.TABLE["reason"]}  # fmt: skip
"""Columns of prediction_given_p0.csv."""
WITHIN = {"predictor" if name == "measure" else name: PREDICTOR if name == "measure" else column
          for name, column in within.COLUMNS.items()}  # fmt: skip
"""Columns of prediction_within.csv."""


def predictor_correlations(cells: Iterable[PredictedCell], resamples: int, seed: int) -> pl.DataFrame:
    """Correlate each predictor with each target in every cell.

    Returns the columns in COLUMNS except STUDY_PART. Coefficients, intervals and tests are computed as in
    analysis.correlation. Holm's correction covers all predictors, separately for each cell, target and coefficient.
    """
    rows: list[dict[str, object]] = []
    for cell in cells:
        pairs = [
            PairedColumns(
                {**cell.names, "target": target, "predictor": predictor, "n": len(x)},
                y,
                x,
                no_coefficient(y, x, "the predictor", "the target"),
            )
            for target, predictor, x, y in cell.pairs()
        ]
        rows += correlate(pairs, min(resamples, RESAMPLES_AT_MOST), seed)
    table = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in rows], schema=SCHEMA)
    return multiplicity.with_adjusted(table, FAMILY, correlation.P_VALUES)


def as_measures(predictions: pl.DataFrame, ordering: str) -> pl.DataFrame:
    """Return the predictions for ``ordering`` in the format of retrieval measures: columns qid, measure, k, value."""
    of_ordering = predictions.filter(pl.col("ordering").is_null() | (pl.col("ordering") == ordering))
    return of_ordering.select("qid", pl.col("predictor").alias("measure"), "k", "value")


def given_p0(predictions: Mapping[str, pl.DataFrame], utility: pl.DataFrame, ordering: str) -> pl.DataFrame:
    """Compute each cell's partial correlations between predictors and P given P_0 (GIVEN_P0 without STUDY_PART)."""
    seen = utility.filter(ordering=ordering).filter(~pl.col("references").str.ends_with(UNSEEN))
    tables = [
        coupling.couplings(seen.filter(retriever=retriever), as_measures(table, ordering))
        for retriever, table in predictions.items()
    ]
    return _renamed(pl.concat(tables), GIVEN_P0)


def predictors_within_queries(
    predictions: Mapping[str, pl.DataFrame], utility: pl.DataFrame, ordering: str, kinds: Mapping[str, str]
) -> pl.DataFrame:
    """Correlate predictors with P over each query's contexts (columns WITHIN without STUDY_PART).

    Predictors computed before retrieval or from zero-shot answers are left out, because they don't depend on the
    context.
    """
    seen = utility.filter(ordering=ordering).filter(~pl.col("references").str.ends_with(UNSEEN))
    measures = pl.concat(
        as_measures(table, ordering).with_columns(retriever=pl.lit(name)) for name, table in predictions.items()
    )
    of_stage = stages(measures["measure"].unique(maintain_order=True))
    varying = [name for name, at in of_stage.items() if at != BEFORE_RETRIEVAL and not name.startswith(PREFIX)]
    known = (
        measures.filter(pl.col("measure").is_in(varying))
        .drop_nulls("value")
        .select("retriever", "qid", "measure", "k", "value")
    )
    return _renamed(within.within_queries(seen, known, kinds), WITHIN)


def _renamed(table: pl.DataFrame, columns: Mapping[str, object]) -> pl.DataFrame:
    renamed = table.rename({"measure": "predictor"})
    return renamed.select(name for name in columns if name not in STUDY_PART)
