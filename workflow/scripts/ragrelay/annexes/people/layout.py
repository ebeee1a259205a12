"""Arrange the scores of a generator's answers in arrays: a row per query, and a column per cell and seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.analysis.clusters import Clusters
from ragrelay.analysis.coefficients import Array
from ragrelay.scoring.score_files import ANSWER

CONTEXT = ["retriever", "ordering", "k"]


@dataclass(frozen=True)
class Laid:
    """Scores as arrays (queries, columns), with a column per cell and seed. ``people``: human scores, NaN if missing.

    ``scorers``: each scorer's scores, NaN if missing. ``assessors``: each assessor's share, from 0 to 1, of an answer's
    human score. ``weights``: 1 divided by the probability that the answer was drawn for people to score, or 1 if the
    probability is unknown. ``cluster`` (queries,): each query's cluster number.
    """

    columns: pl.DataFrame
    people: Array
    weights: Array
    scorers: Mapping[str, Array]
    assessors: Mapping[str, Array]
    cluster: npt.NDArray[np.intp]
    qids: tuple[str, ...]

    def row(self, factor: float, **context: Any) -> list[float]:
        """Return a number per column: ``factor`` in columns of the cell ``context``, 0 in all other columns."""
        return [factor if all(each[name] == context[name] for name in CONTEXT) else 0.0
                for each in self.columns.iter_rows(named=True)]  # fmt: skip


def laid_out(
    people: pl.DataFrame,
    scores: Mapping[str, pl.DataFrame],
    generator: str,
    clusters: Clusters | None,
    by: pl.DataFrame,
) -> Laid:
    """Arrange the scores of ``generator``'s answers.

    ``people`` has columns score_files.ANSWER, value and probability, and each scorer's table in ``scores`` has columns
    ANSWER and value. ``by`` has columns ANSWER, assessor and part (the assessor's share of the human score).
    """
    own = people.filter(generator=generator)
    others = {name: frame.filter(generator=generator) for name, frame in scores.items()}
    keys = pl.concat([frame.select(ANSWER) for frame in (own, *others.values())]).unique()
    columns = keys.select(*CONTEXT, "seed").unique().sort(*CONTEXT, "seed").with_row_index("column")
    queries = keys.select("qid").unique().sort("qid").with_row_index("query")

    def placed(frame: pl.DataFrame, value: str, otherwise: float = np.nan) -> Array:
        table = np.full((queries.height, columns.height), otherwise)
        found = frame.join(columns, on=[*CONTEXT, "seed"]).join(queries, on="qid")
        table[found["query"].to_numpy(), found["column"].to_numpy()] = found[value].to_numpy()
        return table

    weighted = own.with_columns(weight=1.0 / pl.col("probability").fill_null(1.0))
    numbers = range(queries.height) if clusters is None else [clusters[qid] for qid in queries["qid"]]
    _, cluster = np.unique(np.array(numbers, dtype=np.intp), return_inverse=True)
    return Laid(
        columns,
        placed(own, "value"),
        placed(weighted, "weight", 1.0),
        {name: placed(frame, "value") for name, frame in others.items()},
        {name: placed(frame, "part", 0.0) for (name,), frame in by.partition_by("assessor", as_dict=True).items()},
        cluster.astype(np.intp),
        tuple(queries["qid"]),
    )
