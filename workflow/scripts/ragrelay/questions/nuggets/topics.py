"""Select the passages from which nugget lists are written."""

from pathlib import Path
from typing import Literal

import polars as pl

from ragrelay.questions.nuggets.writing import Topic

Passages = Literal["judged", "retrieved"]


def read_topics(
    queries: str | Path,
    passages: str | Path,
    depth: int,
    least_label: int | None = None,
    shard: int = 0,
    shards: int = 1,
) -> list[Topic]:
    """Return the topics (queries with passages) of one shard: every ``shards``-th query in ``queries`` (qid, query).

    ``passages`` are either judged (qid, docno, label, text) or retrieved (qid, rank, docno, text). Judged passages need
    a label of at least ``least_label`` and are sorted by decreasing label, then docno; retrieved passages are sorted by
    rank. Only each query's first ``depth`` passages are used.
    """
    table = pl.read_parquet(passages, glob=False)
    if "label" in table.columns:
        table = table.filter(pl.col("label") >= least_label) if least_label is not None else table
        ordered = table.sort(-pl.col("label"), "docno")
    else:
        ordered = table.sort("rank")
    grouped = ordered.group_by("qid", maintain_order=True).agg(pl.col("docno", "text").head(depth))
    of_query = {qid: list(zip(docnos, texts, strict=True)) for qid, docnos, texts in grouped.iter_rows()}
    asked = pl.read_parquet(queries, columns=["qid", "query"], glob=False).iter_rows()
    topics = [Topic(qid, query, of_query.get(qid, [])) for qid, query in asked]
    return topics[shard::shards]
