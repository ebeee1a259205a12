"""Retrieve with a PyTerrier transformer that a user's own function returns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function, Name
from ragrelay.base.user_code import function_named
from ragrelay.collection.base import Collection
from ragrelay.retrieval.retriever import Retriever, RunTask
from ragrelay.retrieval.trec import RUN


class Pyterrier(Retriever):
    """A PyTerrier transformer, returned by your own function."""

    threads = 2

    pipeline: Function = Field(
        description="`module:function`, in a file in the working folder or in an installed module. The function gets "
        "`corpus` (with the methods `passages()` and `texts(docnos)`), `index` (a folder, or None) and the `options`. "
        "It returns a transformer that takes queries, or a first stage's results with text, and returns results with "
        "scores."
    )
    index: Function | None = Field(
        None,
        description="`module:function` that builds the pipeline's index. The function gets `corpus` and `folder`. It "
        "is called once per corpus, and again whenever the module's file changes.",
    )
    first_stage: Name | None = Field(
        None,
        description="Name of a retriever whose top results are passed to the pipeline. By default, the pipeline gets "
        "only the queries.",
    )
    depth: int = Field(1000, ge=1, description="Number of results per query, both from the first stage and in the run.")
    options: dict[str, Any] = Field({}, description="Keyword arguments for the function.")

    def stages(self) -> list[tuple[str, str]]:
        """Return the retriever, if any, whose results are the transformer's input."""
        return [("first_stage", self.first_stage)] if self.first_stage else []

    def index_definition(self) -> dict[str, object] | None:
        """Return the name of the function that builds the index, and the hash of the function's module."""
        if self.index is None:
            return None
        return {"index": "pyterrier", "builder": self.index, "code": self.code["index"]}

    @classmethod
    def build_index(cls, collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
        """Build the index with the user's function."""
        path.mkdir(parents=True)
        function_named(definition["builder"])(corpus=collection, folder=path)

    def run(self, task: RunTask) -> pl.DataFrame:
        """Return the transformer's results.

        Raises InputError if the function doesn't return a transformer, or if the transformer returns no results,
        changes the passages' texts, or reorders the first stage's results without changing their scores.
        """
        import pyterrier as pt

        from ragrelay.retrieval.frames import as_queries, as_results, as_run, check_ranks, check_texts

        place = f"pipeline {self.pipeline}"
        transformer = function_named(self.pipeline)(corpus=task.collection, index=task.index, **self.options)
        if not isinstance(transformer, pt.Transformer):
            found = f"a return value of type {type(transformer).__name__}"
            raise InputError(place, found, "a PyTerrier transformer")
        if task.runs:
            texts = task.collection.texts(task.runs[0]["docno"].unique().to_list())
            frame = as_results(task.queries, task.runs[0], texts)
        else:
            frame = as_queries(task.queries)
        results: Any = transformer(frame)
        if missing := [column for column in RUN if column not in results.columns]:
            found = f"results without {', '.join(missing)}"
            raise InputError(place, found, "columns qid, docno and score")
        check_texts(place, results, task.collection)
        if task.runs:
            check_ranks(place, results, frame)
        return as_run(results)
