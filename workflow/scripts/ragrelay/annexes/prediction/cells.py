"""Collect each cell's predictors and targets, aligned by query."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ragrelay.analysis.coefficients import Array
from ragrelay.annexes.prediction.predictor import predictors
from ragrelay.annexes.prediction.predictors.answers import PREFIX
from ragrelay.annexes.prediction.predictors.scorer_consistency import scorers_of
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, text
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.orderings import DESCENDING

P, UTILITY, GAIN = "p", "utility", "gain"
TARGETS = (P, UTILITY, GAIN)
"""The targets P_k, (P_k - P_0) / P_0 and P_k - P_0. The retrieval measure is also a target, under its own name."""
PREDICTOR = text("name of the predictor")
TARGET = text(
    "predicted quantity: `p`, `utility` ((P − P₀) / P₀), `gain` (P − P₀), or the name of the retrieval measure, "
    "computed at k"
)
PART = {**CELL_COLUMNS, "target": TARGET, "predictor": PREDICTOR}
KEYS = [*CELL_COLUMNS, "target"]


@dataclass(frozen=True)
class PredictedCell:
    """The values of predictors and targets in a cell, as arrays (n,) keyed by name. Missing values are NaN.

    ``names``: the cell's retriever, ordering, k and references; ``qids``: the n queries' ids.
    """

    names: Mapping[str, str | int]
    qids: Sequence[str]
    predictors: Mapping[str, Array]
    targets: Mapping[str, Array]

    def pairs(self) -> Iterator[tuple[str, str, Array, Array]]:
        """Yield (target, predictor, predictor's values, target's values) per pair, over queries with both values."""
        for target, y in self.targets.items():
            for predictor, x in self.predictors.items():
                known = np.isfinite(x) & np.isfinite(y)
                yield target, predictor, x[known], y[known]


def oriented(predicted: Mapping[str, Array], target: str) -> dict[str, Array]:
    """Return the predictors' values, with the sign reversed if smaller values predict a larger ``target``.

    The more certain a generator is without a context, the less a context can add. Predictors computed from zero-shot
    answers therefore have opposite signs for P and for gain or utility.
    """
    turned = {predictor.name for predictor in predictors({}) if not predictor.rising}
    if target in (GAIN, UTILITY):
        turned ^= {name for name in predicted if name.startswith(PREFIX)}
    return {name: -x if name in turned else x for name, x in predicted.items()}


def stages(names: Iterable[str] = ()) -> dict[str, str]:
    """Map predictors' names to stages, sorted by stage; `agreement_<scorer>` is included only if it is in ``names``."""
    return {predictor.name: predictor.stage for predictor in predictors({"scorers": scorers_of(names)})}


def evaluated_ordering(orderings: Sequence[str]) -> str:
    """Return the ordering to evaluate: descending if the study has it, otherwise the first in ``orderings``.

    Raises InputError if ``orderings`` is empty, which means that no answer with passages has a score.
    """
    if not orderings:
        raise InputError("answers with passages", "no scores", "at least one score")
    return DESCENDING if DESCENDING in orderings else orderings[0]


def predicted_cells(
    predictions: Mapping[str, pl.DataFrame], utility: pl.DataFrame, retrieval: Mapping[str, pl.DataFrame], measure: str
) -> Iterator[PredictedCell]:
    """Yield each retriever's cells in the evaluated ordering, for every k and every reference set except unseen sets.

    ``predictions`` and ``retrieval``: tables keyed by retriever; ``utility``: the utility table.
    """
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN))
    ordering = evaluated_ordering(seen.filter(pl.col("k") > 0)["ordering"].unique(maintain_order=True).to_list())
    for retriever, table in predictions.items():
        of_ordering = table.filter(pl.col("ordering").is_null() | (pl.col("ordering") == ordering))
        for k in sorted(table["k"].unique()):
            wide = of_ordering.filter(k=k).pivot("predictor", index="qid", values="value", maintain_order=True)
            names = [name for name in stages(wide.columns) if name in wide.columns]
            measured = retrieval[retriever].filter(measure=measure, k=k).select("qid", pl.col("value").alias(measure))
            cells = seen.filter(retriever=retriever, ordering=ordering, k=k)
            for references in cells["references"].unique(maintain_order=True):
                rows = (
                    cells.filter(references=references)
                    .select("qid", "p", gain=pl.col("p") - pl.col("p0"), p0="p0")
                    .with_columns(utility=pl.when(pl.col("p0") > 0).then(pl.col("gain") / pl.col("p0")))
                    .join(wide, on="qid", how="left", maintain_order="left")
                    .join(measured, on="qid", how="left", maintain_order="left")
                    .sort("qid")
                )
                yield PredictedCell(
                    {"retriever": retriever, "ordering": ordering, "k": k, "references": references},
                    rows["qid"].to_list(),
                    {name: _column(rows, name) for name in names},
                    {name: _column(rows, name) for name in (measure, *TARGETS)},
                )


def _column(rows: pl.DataFrame, name: str) -> Array:
    return rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
