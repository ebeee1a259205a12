"""Dense retrieval: a bi-encoder's vectors in a flat index, searched exactly, by pyterrier-dr."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.config.models import model_path
from ragrelay.hubs import check_cached
from ragrelay.retrieval.frames import as_queries, as_run


def build_index(collection: Collection, definition: Mapping[str, Any], path: Path, threads: int) -> None:
    """Encode all passages of ``collection`` into a vector index in folder ``path``."""
    from pyterrier_dr import FlexIndex

    _set_threads(threads)
    index = FlexIndex(str(path), verbose=False)
    (_encoder(definition) >> index.indexer(mode="create")).index(collection.passages())


def dense_run(queries: pl.DataFrame, definition: Mapping[str, Any], index: Path, threads: int) -> pl.DataFrame:
    """The ``depth`` largest dot products for each of ``queries`` (qid, query); returns qid, docno, score."""
    from pyterrier_dr import FlexIndex

    _set_threads(threads)
    searcher = FlexIndex(str(index), verbose=False).np_retriever(num_results=definition["depth"])
    return as_run((_encoder(definition) >> searcher)(as_queries(queries)))


def _encoder(definition: Mapping[str, Any]) -> Any:
    from pyterrier_dr import SBertBiEncoder

    check_cached(definition["model"], None, f"dense retriever's model {definition['model']!r}")
    return SBertBiEncoder(model_path(definition["model"]), verbose=False)


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
