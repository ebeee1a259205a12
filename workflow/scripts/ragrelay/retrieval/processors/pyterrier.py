"""Process passages by a user's own PyTerrier transformer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named
from ragrelay.retrieval.processor import Passage, Process, Processor


class Pyterrier(Processor):
    """A PyTerrier transformer of results with text, whose `text` is shown; its scores and ranks count for nothing."""

    threads = 2

    pipeline: Function = Field(
        description="`module:function`, in a file in the working folder or an installed module. Called with the "
        "`options`; returns a transformer, which gets qid, query, docno, text, score (falling with the rank) and rank "
        "of a query's first k passages."
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments of the pipeline's function.")

    def decisive(self, cache_dir: Path) -> dict[str, Any]:
        """Return the function, its module's file and its options."""
        return {"pipeline": self.pipeline, "code": self.code["pipeline"], "options": self.options}

    def start(self, threads: int) -> Process:
        """Make the transformer. It raises InputError unless it returns docno and text."""
        import pandas as pd
        import pyterrier as pt

        place = f"pipeline {self.pipeline}"
        transformer = function_named(self.pipeline)(**self.options)
        if not isinstance(transformer, pt.Transformer):
            raise InputError(place, f"a {type(transformer).__name__} returned", "a PyTerrier transformer")

        def process(query: str, passages: Sequence[Passage]) -> list[tuple[str, str]]:
            rows = [("1", query, *passage, float(-rank), rank) for rank, passage in enumerate(passages)]
            given = pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])
            results: Any = transformer(given)
            if missing := [column for column in ("docno", "text") if column not in results.columns]:
                raise InputError(place, f"results without {', '.join(missing)}", "columns docno and text")
            return list(results[["docno", "text"]].itertuples(index=False, name=None))

        return process
