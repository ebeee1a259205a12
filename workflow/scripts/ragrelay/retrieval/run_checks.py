"""Check imported run files before any engine starts, each version of a file once per dataset.

The job that prepares a dataset checks its run files. A file that is added or changed later is checked at the next
start. No job's inputs depend on the set of run files, so that adding or removing one reruns no other retriever.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection import open_collection
from ragrelay.collection.base import Collection
from ragrelay.collection.prepare import judged_queries
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.io.atomic_files import write_json
from ragrelay.io.cache_mode import read_only
from ragrelay.io.hashing import value_hash
from ragrelay.retrieval.trec import check_run


def check_joined_runs(paths: Sequence[str], dataset: Mapping[str, Any], cache_dir: str | Path) -> None:
    """Check the unchecked run files of a prepared ``dataset`` (its definition). Raises as check_runs does."""
    if any(not _mark(path, dataset, cache_dir).exists() for path in paths):
        collection = open_collection(dataset)
        queries = judged_queries(collection.queries(), collection.qrels())
        check_runs(paths, dataset, queries, collection, cache_dir)


def check_runs(
    paths: Sequence[str],
    dataset: Mapping[str, Any],
    queries: pl.DataFrame,
    collection: Collection,
    cache_dir: str | Path,
) -> None:
    """Check the run files ``paths`` against a dataset's judged ``queries`` (qid) and ``collection``, each once.

    Raises InputError for the first unusable file (see check_run).
    """
    for path in paths:
        mark = _mark(path, dataset, cache_dir)
        if not mark.exists():
            check_run(path, queries, collection)
            if not read_only():
                write_json({"run": path, "dataset": dataset}, mark)


def _mark(path: str, dataset: Mapping[str, Any], cache_dir: str | Path) -> Path:
    """Return the file that records that this run file was checked against the dataset's present files."""
    files = [Path(path), *DATASET_KINDS.of(dataset).files(Path())]
    versions = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return Path(cache_dir) / "run_checks" / f"{value_hash([versions, dict(dataset)])}.json"
