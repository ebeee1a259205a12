"""Treat each judged passage as a subtopic (hop), for datasets with supporting facts such as HotpotQA."""

import polars as pl


def read_hops(qrels: pl.DataFrame) -> pl.DataFrame:
    """Turn each judged passage in ``qrels`` (qid, docno, label) into a subtopic of the query, with the same label."""
    return qrels.with_columns(subtopic="docno")
