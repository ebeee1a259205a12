"""Check imported run files and measures before any engine starts.

The checks run in the job that prepares a dataset. Files and measures added later are checked when the study next
starts. Adding or removing a run file doesn't rerun other retrievers, because no job depends on the set of run files.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_mode import read_only
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.measures import check_labels, highest_labels
from ragrelay.collection import open_collection
from ragrelay.collection.base import Collection
from ragrelay.collection.brought_passages import read_brought, with_brought
from ragrelay.collection.prepare import judged_queries
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.retrieval.trec import check_run

VERSION = 2
"""Increase this number when a check becomes stricter, so that all files are rechecked."""
Run = Mapping[str, Any]
"""An imported run: the run file's ``path``, the retriever's ``name`` and ``definition``, and the files (``passages``)
with passages that the collection lacks."""


def check_joined(
    runs: Sequence[Run],
    measures: Sequence[str],
    dataset: Mapping[str, object],
    cache_dir: str | Path,
    opened: Callable[[Mapping[str, object]], Collection] | None = None,
) -> None:
    """Check run files and measures for a prepared ``dataset`` (a definition), unless they were checked before.

    ``opened``: a function that opens the collection; defaults to open_collection. Raises InputError for the first
    unusable run file or measure.
    """
    marks = [_run_mark(run, dataset, cache_dir) for run in runs]
    if limits := highest_labels(measures):
        marks.append(_measures_mark(limits, dataset, cache_dir))
    if not all(mark.exists() for mark in marks):
        collection = (opened or open_collection)(dataset)
        qrels = collection.qrels()
        queries = judged_queries(collection.queries(), qrels)
        check_runs(runs, dataset, queries, collection, cache_dir)
        check_measures(measures, dataset, qrels.join(queries, on="qid", how="semi"), cache_dir)


def check_runs(
    runs: Sequence[Run],
    dataset: Mapping[str, object],
    queries: pl.DataFrame,
    collection: Collection,
    cache_dir: str | Path,
) -> None:
    """Check run files against a dataset's judged ``queries`` (qid) and ``collection``, unless they were checked before.

    Raises InputError for the first unusable file (see check_run).
    """
    for run in runs:
        mark = _run_mark(run, dataset, cache_dir)
        if not mark.exists():
            given = with_brought(collection, read_brought(map(Path, run["passages"])))
            check_run(run["path"], queries, given, run["definition"], run["name"])
            _write({"run": run["path"], "dataset": dataset}, mark)


def check_measures(
    measures: Sequence[str], dataset: Mapping[str, object], qrels: pl.DataFrame, cache_dir: str | Path
) -> None:
    """Check that the providers of ``measures`` accept the labels in ``qrels`` (column label), unless already checked.

    Raises InputError for the first measure whose provider rejects the labels.
    """
    limits = highest_labels(measures)
    mark = _measures_mark(limits, dataset, cache_dir)
    if limits and not mark.exists():
        check_labels(measures, qrels["label"], f"qrels of {dataset.get('path', dataset.get('id'))}")
        _write({"measures": limits, "dataset": dataset}, mark)


def _write(checked: Mapping[str, object], mark: Path) -> None:
    if not read_only():
        write_json(checked, mark)


def _run_mark(run: Run, dataset: Mapping[str, object], cache_dir: str | Path) -> Path:
    """Return the file that records that this run file was checked against the dataset's current files."""
    return _mark(
        [Path(run["path"]), *map(Path, run["passages"])], [dict(run["definition"]), dict(dataset)], dataset, cache_dir
    )


def _measures_mark(limits: Mapping[str, int], dataset: Mapping[str, object], cache_dir: str | Path) -> Path:
    """Return the file that records that these limits were checked against the dataset's current files."""
    return _mark([], [dict(limits), dict(dataset)], dataset, cache_dir)


def _mark(files: list[Path], checked: list[object], dataset: Mapping[str, object], cache_dir: str | Path) -> Path:
    present = [*files, *DATASET_KINDS.of(dataset).files(Path())]
    versions = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in present]
    return Path(cache_dir) / "run_checks" / f"{value_hash([VERSION, versions, *checked])}.json"
