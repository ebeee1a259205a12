"""Build a retriever's run from its definition."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.collection.brought_passages import read_brought, with_brought
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask
from ragrelay.retrieval.trec import ranked, read_ranks, without_identical_ids


def build_run(
    collection: Collection,
    queries: pl.DataFrame,
    qrels: pl.DataFrame,
    definition: Mapping[str, Any],
    *,
    index: Path | None = None,
    runs: Sequence[Path] = (),
    threads: int = 1,
    answers: Sequence[tuple[Path, dict[str, object]]] = (),
    name: str = "",
    drop_identical_ids: bool = False,
    passages: Sequence[Path] = (),
) -> pl.DataFrame:
    """Build a retriever's ranked run (qid, docno, rank, score) for ``queries``.

    ``index``: the retriever's index, if there is one. ``runs``: the run files that the retriever uses, either other
    retrievers' runs or the imported run. ``answers``: answer files, each with the values in the file's name. ``name``:
    the retriever's name. ``drop_identical_ids``: whether to leave out a passage that has the same id as the query.
    ``passages``: files with additional passages, which aren't in the collection. Raises InputError if no query has a
    result, or if an imported run's order is ambiguous.
    """
    retriever = RETRIEVER_KINDS.of(definition)

    def kept(rows: pl.DataFrame) -> pl.DataFrame:
        return without_identical_ids(rows) if drop_identical_ids else rows

    within = pl.col("rank") <= definition["depth"] if "depth" in definition else pl.lit(True)
    scored = [retriever.scored(read_ranks(run), str(run), name) for run in runs]
    rankings = [ranked(kept(run), queries).filter(within) for run in scored]
    judged = kept(qrels) if retriever.needs_qrels else qrels
    brought = read_brought(passages)
    given = with_brought(collection, brought)
    task = RunTask(queries, judged, given, index, rankings, threads, answers, name, brought)
    result = search(task, definition, drop_identical_ids)
    if result.is_empty():
        raise retriever.no_result(f"retriever of kind {definition['kind']}", runs)
    return result


def search(task: RunTask, definition: Mapping[str, Any], drop_identical_ids: bool = False) -> pl.DataFrame:
    """Return a retriever's ranked run (qid, docno, rank, score) for the queries in ``task``. The run may be empty."""
    retriever = RETRIEVER_KINDS.of(definition)
    if drop_identical_ids and "depth" in definition and not retriever.stages():
        # Request one more result, to replace the one that is left out.
        retriever = RETRIEVER_KINDS.of({**definition, "depth": definition["depth"] + 1})
    found = retriever.run(task)
    result = ranked(without_identical_ids(found) if drop_identical_ids else found, task.queries)
    return result.filter(pl.col("rank") <= definition["depth"]) if "depth" in definition else result
