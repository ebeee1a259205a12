"""The ranking of another retriever."""

import polars as pl
from pydantic import Field
from ragrelay.extend import Name, Retriever, RunTask


class Again(Retriever):
    """The first passages of another retriever's ranking, in the same order."""

    of: Name = Field(description="Name of the other retriever.")

    def stages(self) -> list[tuple[str, str]]:
        """Return the other retriever."""
        return [("of", self.of)]

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return its passages and scores."""
        return task.runs[0].select("qid", "docno", "score")
