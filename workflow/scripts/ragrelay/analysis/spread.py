"""Measure how much P varies between seeds, and count F1 scores set to 0 because precision or recall is negative."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.base.vocabulary.columns import CELL_COLUMNS, STUDY_PART, integer, number
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT

TABLE = {
    **CELL_COLUMNS,
    "n": integer("number of queries with answers for at least two seeds", "queries"),
    "q25": number("first quartile over queries of the standard deviation of P between seeds", "the scorer's"),
    "median": number("median over queries of the standard deviation of P between seeds", "the scorer's"),
    "q75": number("third quartile over queries of the standard deviation of P between seeds", "the scorer's"),
    "n_zero": integer(
        "number of answer–reference pairs for which F1 is set to 0 because bert-score's formula would turn a negative "
        "precision or recall into a positive F1; empty for scorers with a single value per pair",
        "pairs",
    ),
}
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of spread.csv."""


def seed_spread(scores: Mapping[str, str | Path]) -> pl.DataFrame:
    """Compute one row per cell (columns TABLE) from each retriever's score file (retriever_table.SCORE_COLUMNS).

    Standard deviations have n − 1 in the denominator.
    """
    frames = []
    for retriever, path in scores.items():
        queries = (
            pl.scan_parquet(path)
            .filter((pl.col("k") > 0) & (pl.col("ordering") != NO_ORDERING) | pl.lit(retriever == ZEROSHOT))
            .sort("ordering", "k", "references", "qid", "seed")
            .group_by("ordering", "k", "references", "qid", maintain_order=True)
            # Collect lists first: statistics of lists have the same last digit with any number of threads.
            .agg(pl.col("f1", "n_zero"))
            .select("ordering", "k", "references", "qid", "n_zero", pl.col("f1").list.std().alias("sd"))
            .collect()
        )
        frames.append(queries.with_columns(pl.lit(retriever).alias("retriever")))
    sd, zeros = pl.col("sd").drop_nulls(), pl.col("n_zero").list.explode()
    return (
        pl.concat(frames)
        .group_by(list(CELL_COLUMNS), maintain_order=True)
        .agg(
            sd.len().cast(pl.Int64).alias("n"),
            *(sd.quantile(at, "linear").alias(name) for name, at in (("q25", 0.25), ("median", 0.5), ("q75", 0.75))),
            # Null, not 0, for a measure without precision and recall, which has no such pairs.
            pl.when(zeros.count() > 0).then(zeros.sum()).alias("n_zero"),
        )
        .select(*TABLE)
    )
