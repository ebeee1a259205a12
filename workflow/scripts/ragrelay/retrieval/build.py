"""Build a retriever's run from its definition."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError
from ragrelay.retrieval.bm25 import bm25_run
from ragrelay.retrieval.dense import dense_run
from ragrelay.retrieval.oracle import oracle_run
from ragrelay.retrieval.rerank import rerank_run
from ragrelay.retrieval.trec import ranked, read_run


def build_run(
    collection: Collection,
    queries: pl.DataFrame,
    qrels: pl.DataFrame,
    definition: Mapping[str, Any],
    *,
    index: Path | None = None,
    run: Path | None = None,
    threads: int = 1,
) -> pl.DataFrame:
    """The ranked run (qid, docno, rank, score) of a retriever for ``queries``.

    ``index`` is the index of a bm25 or dense retriever; ``run`` is the first stage's run of a reranker, or the run
    file brought along. Raises InputError where the run has no result for any query.
    """
    kind = definition["kind"]
    if kind == "bm25" and index is not None:
        found = bm25_run(queries, definition, index, threads)
    elif kind == "dense" and index is not None:
        found = dense_run(queries, definition, index, threads)
    elif kind == "oracle":
        found = oracle_run(qrels, definition, collection.texts(qrels["docno"].unique().to_list()))
    elif kind == "rerank" and run is not None:
        first = ranked(read_run(run), queries)
        top = first.filter(pl.col("rank") <= definition["depth"])
        found = rerank_run(queries, first, collection.texts(top["docno"].unique().to_list()), definition)
    elif kind == "run" and run is not None:
        found = read_run(run)
    else:
        raise InputError("retriever", f"kind {kind!r} without its index or run", "both")
    result = ranked(found, queries)
    if result.is_empty():
        raise InputError(run or f"retriever of kind {kind}", "no result for any query", "qids of the dataset's queries")
    return result
