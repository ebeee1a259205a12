"""Process passages with a user's own PyTerrier transformer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.settings import Function
from ragrelay.base.user_code import function_named, user_errors
from ragrelay.retrieval.processor import Passage, Process, Processor


class Pyterrier(Processor):
    """Applies a PyTerrier transformer to a query's passages. The prompt shows the column `text` of the transformed
    results, ordered by rank.
    """

    threads = 2

    pipeline: Function = Field(
        description="`module:function`, in a file in the working folder or in an installed module. The function gets "
        "the `options` and returns a transformer. The transformer gets a query's first k passages with the columns "
        "`qid`, `query`, `docno`, `text`, `score` (decreasing with the rank) and `rank`. The grid's orderings apply "
        "to the column `rank` in the results or, without such a column, to the order of the rows."
    )
    options: dict[str, Any] = Field({}, description="Keyword arguments for the function.")

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Return the function, the hash of its module and the options."""
        return {"pipeline": self.pipeline, "code": self.code["pipeline"], "options": self.options}

    def start(self, threads: int) -> Process:
        """Create the transformer.

        The returned function raises InputError if the transformer fails, returns results without docno or text, or
        returns rows in an order that differs from the ranks.
        """
        import pandas as pd
        import pyterrier as pt

        place, expected = f"pipeline {self.pipeline}", "a PyTerrier transformer"
        with user_errors(place, self.pipeline, "its start", expected):
            transformer = function_named(self.pipeline)(**self.options)
        if not isinstance(transformer, pt.Transformer):
            raise InputError(place, f"a return value of type {type(transformer).__name__}", expected)

        def process(query: str, passages: Sequence[Passage]) -> list[tuple[str, str]]:
            rows = [("1", query, *passage, float(-rank), rank) for rank, passage in enumerate(passages)]
            given = pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])
            with user_errors(place, self.pipeline, f"query {query!r}", "results with docno and text"):
                results: Any = transformer(given)
            if missing := [column for column in ("docno", "text") if column not in results.columns]:
                raise InputError(place, f"results without {', '.join(missing)}", "columns docno and text")
            return _in_order(place, query, results, [passage.docno for passage in passages])

        return process


def _in_order(place: str, query: str, results: Any, given: Sequence[str]) -> list[tuple[str, str]]:
    """Return docnos and texts sorted by rank, or in row order if there are no ranks.

    PyTerrier doesn't have to sort rows by rank, and a pipeline may leave scores unchanged, so rows and scores may also
    be in the ``given`` order. Raises InputError for any third order, because that might be the intended one.
    """
    by_rank = results.sort_values("rank", kind="stable") if "rank" in results.columns else results
    by_score = by_rank.sort_values("score", ascending=False, kind="stable") if "score" in results.columns else by_rank
    rows, scores, ranks = (frame["docno"].tolist() for frame in (results, by_score, by_rank))
    before = [*(docno for docno in given if docno in rows), *(docno for docno in rows if docno not in given)]
    for what, order in (("rows", rows), ("scores", scores)):
        if order not in (before, ranks):
            found = f"{what} whose order differs from the ranks for query {query!r}"
            raise InputError(place, found, "the same order, e.g. from pt.model.add_ranks and then sort_values('rank')")
    return list(by_rank[["docno", "text"]].itertuples(index=False, name=None))
