"""Build a retriever's run from its definition."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask
from ragrelay.retrieval.trec import ranked, read_run


def build_run(
    collection: Collection,
    queries: pl.DataFrame,
    qrels: pl.DataFrame,
    definition: Mapping[str, Any],
    *,
    index: Path | None = None,
    runs: Sequence[Path] = (),
    threads: int = 1,
    answers: Sequence[tuple[Path, dict[str, Any]]] = (),
    name: str = "",
) -> pl.DataFrame:
    """Return the ranked run (qid, docno, rank, score) of a retriever for ``queries``.

    ``index``: the retriever's index, if its kind has one; ``runs``: the files of its stages' runs, or of an imported
    run; ``answers``: files of answers, each with the values in its name; ``name``: the retriever's name. Raises
    InputError if the run has no result for any query.
    """
    retriever = RETRIEVER_KINDS.of(definition)
    within = pl.col("rank") <= definition["depth"] if "depth" in definition else pl.lit(True)
    rankings = [ranked(read_run(run), queries).filter(within) for run in runs]
    retrieved = retriever.run(RunTask(queries, qrels, collection, index, rankings, threads, answers, name))
    result = ranked(retrieved, queries).filter(within)
    if result.is_empty():
        raise retriever.no_result(f"retriever of kind {definition['kind']}", runs)
    return result
