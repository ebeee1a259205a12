"""Between this package's polars frames and PyTerrier's pandas ones."""

import pandas as pd
import polars as pl

from ragrelay.retrieval.trec import RUN


def as_queries(queries: pl.DataFrame) -> pd.DataFrame:
    """PyTerrier's topics (qid, query) from a queries frame."""
    return pd.DataFrame({"qid": queries["qid"].to_list(), "query": queries["query"].to_list()})


def as_run(results: pd.DataFrame) -> pl.DataFrame:
    """A run (qid, docno, score) from PyTerrier's results."""
    columns = {name: results[name].tolist() for name in RUN}
    return pl.DataFrame(columns, schema=RUN)
