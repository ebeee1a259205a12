"""Fuse other retrievers' runs by reciprocal rank fusion."""

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name, Unique
from ragrelay.retrieval.retriever import Retriever, RunTask


class Fusion(Retriever):
    """Reciprocal rank fusion of other retrievers' runs (Cormack et al., SIGIR 2009). A passage's score is the sum of 1
    / (constant + rank) over the runs that contain the passage.
    """

    retrievers: Unique[Name] = Field(
        min_length=2,
        description="Names of the retrievers whose runs are fused. Each run is built only once.",
    )
    rank_constant: int = Field(
        60,
        ge=0,
        description="The constant in 1 / (constant + rank). A larger constant gives the top ranks less weight.",
    )
    depth: int = Field(
        1000, ge=1, description="Number of results per query, both from each retriever and in the fused run."
    )

    def stages(self) -> list[tuple[str, str]]:
        """Return the retrievers to fuse."""
        return [("retrievers", name) for name in self.retrievers]

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the fused run. A score is the sum of 1 / (constant + rank) over the runs that contain the passage."""
        share = 1 / (self.rank_constant + pl.col("rank"))
        return pl.concat(task.runs).group_by("qid", "docno", maintain_order=True).agg(score=share.sum())
