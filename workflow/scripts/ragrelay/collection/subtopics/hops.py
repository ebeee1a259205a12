"""Treat a query's supporting facts, as in HotpotQA, as subtopics: each passage that the query needs is a hop."""

import polars as pl


def read_hops(qrels: pl.DataFrame) -> pl.DataFrame:
    """Turn each judged passage in ``qrels`` (qid, docno, label) into a subtopic of the query, with the same label."""
    return qrels.with_columns(subtopic="docno")
