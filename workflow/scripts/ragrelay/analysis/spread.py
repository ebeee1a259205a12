"""How far answers to one prompt differ from seed to seed."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.vocabulary.columns import CELL_COLUMNS, STUDY_PART, real, whole
from ragrelay.vocabulary.names import NO_ORDERING, ZEROSHOT

TABLE = {
    **CELL_COLUMNS,
    "n": whole("queries with two seeds or more", "queries"),
    "q25": real("first quartile over queries of the standard deviation of a query's P over seeds", "the scorer's"),
    "median": real("median of the same", "the scorer's"),
    "q75": real("third quartile of the same", "the scorer's"),
    "n_zero": whole("answers that score 0 with every reference: blank, or nothing in common", "answers"),
}
COLUMNS = {**STUDY_PART, **TABLE}
"""Those of spread.csv."""


def seed_spread(scores: Mapping[str, str | Path]) -> pl.DataFrame:
    """Columns TABLE, from score files by retriever (qid, ordering, k, seed, references, f1); a row per cell.

    ``n`` queries have two seeds or more; ``q25``, ``median`` and ``q75`` are quartiles over them of the standard
    deviation of a query's P over seeds (n − 1 in the denominator). ``n_zero`` counts the answers with f1 = 0. How
    seeds compare with the spread over queries: analysis/variance.py.
    """
    frames = []
    for retriever, path in scores.items():
        queries = (
            pl.scan_parquet(path)
            .filter((pl.col("k") > 0) & (pl.col("ordering") != NO_ORDERING) | pl.lit(retriever == ZEROSHOT))
            .sort("ordering", "k", "references", "qid", "seed")
            .group_by("ordering", "k", "references", "qid", maintain_order=True)
            # Lists first: the same last digit whatever the number of threads.
            .agg(pl.col("f1"), (pl.col("f1") == 0.0).sum().cast(pl.Int64).alias("zeros"))
            .select("ordering", "k", "references", "qid", "zeros", pl.col("f1").list.std().alias("sd"))
            .collect()
        )
        frames.append(queries.with_columns(pl.lit(retriever).alias("retriever")))
    sd = pl.col("sd").drop_nulls()
    return (
        pl.concat(frames)
        .group_by(list(CELL_COLUMNS), maintain_order=True)
        .agg(
            sd.len().cast(pl.Int64).alias("n"),
            *(sd.quantile(at, "linear").alias(name) for name, at in (("q25", 0.25), ("median", 0.5), ("q75", 0.75))),
            pl.col("zeros").sum().alias("n_zero"),
        )
        .select(*TABLE)
    )
