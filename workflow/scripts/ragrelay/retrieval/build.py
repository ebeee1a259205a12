"""Build a retriever's run from its definition."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError
from ragrelay.retrieval.bm25 import bm25_run
from ragrelay.retrieval.dense import dense_run
from ragrelay.retrieval.frames import as_results
from ragrelay.retrieval.fusion import fusion_run
from ragrelay.retrieval.oracle import ORACLES, oracle_run
from ragrelay.retrieval.pipeline import pipeline_run
from ragrelay.retrieval.rerank import rerank_run
from ragrelay.retrieval.terrier import terrier_run
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
) -> pl.DataFrame:
    """The ranked run (qid, docno, rank, score) of a retriever for ``queries``.

    ``index`` is the retriever's index, where its kind has one; ``runs`` are the files of the first stage's run, of
    the runs that are fused, or the one brought along. Raises InputError where the run has no result for any query.
    """
    kind = definition["kind"]
    given = [ranked(read_run(run), queries) for run in runs]
    if "depth" in definition:
        given = [run.filter(pl.col("rank") <= definition["depth"]) for run in given]
    if kind == "bm25" and index is not None:
        search = terrier_run if definition["engine"] == "terrier" else bm25_run
        found = search(queries, definition, index, threads)
    elif kind == "dense" and index is not None:
        found = dense_run(queries, definition, index, threads)
    elif kind in ORACLES:
        found = oracle_run(qrels, definition, collection.texts(qrels["docno"].unique().to_list()))
    elif kind == "rerank" and given:
        texts = collection.texts(given[0]["docno"].unique().to_list())
        found = rerank_run(as_results(queries, given[0], texts), definition, threads)
    elif kind == "fusion" and given:
        found = fusion_run(given, definition)
    elif kind == "pyterrier":
        found = pipeline_run(queries, collection, definition, index, given[0] if given else None)
    elif kind == "run" and given:
        found = given[0]
    else:
        raise InputError("retriever", f"kind {kind!r} without its index or run", "both")
    result = ranked(found, queries)
    if "depth" in definition:
        result = result.filter(pl.col("rank") <= definition["depth"])
    if result.is_empty():
        place, expected = f"retriever of kind {kind}", "qids of the dataset's queries"
        if kind == "run":
            place = str(runs[0])
        elif kind in ORACLES:
            labels = ", ".join(f"{key} {definition[key]}" for key in ("min_label", "max_label") if key in definition)
            place, expected = f"{place} ({labels})", "judgements that fit it"
        raise InputError(place, "no result for any query", expected)
    return result
