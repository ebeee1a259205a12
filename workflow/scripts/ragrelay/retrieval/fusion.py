"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) of other retrievers' runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl


def fusion_run(runs: Sequence[pl.DataFrame], definition: Mapping[str, Any]) -> pl.DataFrame:
    """The sum over ``runs`` (qid, docno, rank from 1) of 1 / (rank_constant + rank); returns qid, docno, score.

    A passage that a run lacks gets nothing from it.
    """
    share = 1 / (definition["rank_constant"] + pl.col("rank"))
    return pl.concat(runs).group_by("qid", "docno", maintain_order=True).agg(score=share.sum())
