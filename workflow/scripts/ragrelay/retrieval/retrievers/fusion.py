"""Fuse other retrievers' runs by reciprocal rank."""

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name, Unique
from ragrelay.retrieval.retriever import Retriever, RunTask


class Fusion(Retriever):
    """Reciprocal rank fusion of other retrievers' runs (Cormack et al., SIGIR 2009): the sum of 1 / (constant +
    rank).
    """

    retrievers: Unique[Name] = Field(
        min_length=2,
        description="Names of the retrievers to fuse; each run is built only once.",
    )
    rank_constant: int = Field(
        60, ge=0, description="The formula's constant; a larger constant reduces the weight of the first ranks."
    )
    depth: int = Field(1000, ge=1, description="Results taken from each retriever, and results kept, per query.")

    def stages(self) -> list[tuple[str, str]]:
        """Return all retrievers that it fuses."""
        return [("retrievers", name) for name in self.retrievers]

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the sum over the stages' runs. A passage outside a run gets nothing from it."""
        share = 1 / (self.rank_constant + pl.col("rank"))
        return pl.concat(task.runs).group_by("qid", "docno", maintain_order=True).agg(score=share.sum())
