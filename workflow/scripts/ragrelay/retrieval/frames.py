"""Convert between this package's polars frames and PyTerrier's pandas frames."""

from collections.abc import Mapping

import pandas as pd
import polars as pl

from ragrelay.retrieval.trec import RUN


def as_queries(queries: pl.DataFrame) -> pd.DataFrame:
    """Return PyTerrier's topics (qid, query) from a queries frame."""
    return pd.DataFrame({"qid": queries["qid"].to_list(), "query": queries["query"].to_list()})


def as_results(queries: pl.DataFrame, run: pl.DataFrame, texts: Mapping[str, str]) -> pd.DataFrame:
    """Return a ranked run's passages with text as PyTerrier's results (qid, query, docno, text, score, rank from 0)."""
    query_of = dict(queries.select("qid", "query").iter_rows())
    rows = [
        (qid, query_of[qid], docno, texts[docno], score, rank - 1)
        for qid, docno, rank, score in run.select("qid", "docno", "rank", "score").iter_rows()
        if docno in texts
    ]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])


def as_run(results: pd.DataFrame) -> pl.DataFrame:
    """Return a run (qid, docno, score) from PyTerrier's results."""
    columns = {name: results[name].tolist() for name in RUN}
    return pl.DataFrame(columns, schema=RUN)
