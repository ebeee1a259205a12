"""A retriever's index, built as the workflow builds it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.collection.base import Collection
from ragrelay.retrieval.indexes import index_corpus
from ragrelay.retrieval.retriever import RETRIEVER_KINDS


def built_index(collection: Collection, definition: Mapping[str, Any], cache: Path) -> Path | None:
    """Folder in ``cache`` of the index that the retriever needs; None where it needs none."""
    index = RETRIEVER_KINDS.of(definition).index_definition()
    return cache / index_corpus(collection, definition["kind"], index, cache, 1)["path"] if index else None
