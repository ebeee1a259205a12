"""Retrievers that a user writes: a function, found by import, that returns a PyTerrier transformer."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.config.retrievers import importable
from ragrelay.errors import InputError
from ragrelay.retrieval.frames import as_queries, as_results, as_run
from ragrelay.retrieval.trec import RUN


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Let the definition's ``builder`` (module:function) index ``collection`` in folder ``path``."""
    path.mkdir(parents=True)
    _function(definition["builder"])(corpus=collection, folder=path)


def pipeline_run(
    queries: pl.DataFrame,
    collection: Collection,
    definition: Mapping[str, Any],
    index: Path | None = None,
    top: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Run the definition's pipeline for ``queries``, or for the ranked run ``top`` with its texts.

    Returns qid, docno, score.
    Raises InputError where the function returns no transformer, or that returns no results.
    """
    import pyterrier as pt

    name = definition["pipeline"]
    transformer = _function(name)(corpus=collection, index=index, **definition["options"])
    if not isinstance(transformer, pt.Transformer):
        raise InputError(f"pipeline {name}", f"a {type(transformer).__name__} returned", "a PyTerrier transformer")
    if top is None:
        given = as_queries(queries)
    else:
        given = as_results(queries, top, collection.texts(top["docno"].unique().to_list()))
    results: Any = transformer(given)
    if missing := [column for column in RUN if column not in results.columns]:
        found = f"results without {', '.join(missing)}"
        raise InputError(f"pipeline {name}", found, "columns qid, docno and score")
    return as_run(results)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    with importable(Path()):
        found = getattr(importlib.import_module(module), function, None)
    if not callable(found):
        raise InputError(f"module {module}", f"no function {function!r}", "the one that the config names")
    return found
