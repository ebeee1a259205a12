"""Supporting facts, as in HotpotQA: each passage that a query needs is a hop, and so a subtopic."""

import polars as pl


def read_hops(qrels: pl.DataFrame) -> pl.DataFrame:
    """Return each judged passage of ``qrels`` (qid, docno, label) as a subtopic of its query, with its label."""
    return qrels.with_columns(subtopic="docno")
