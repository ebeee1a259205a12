"""Indexes: built once per corpus and settings, kept in the cache under a hash, never changed after."""

import json
import shutil
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError
from ragrelay.io.hashing import value_hash
from ragrelay.retrieval.retriever import RETRIEVER_KINDS


def index_name(definition: Mapping[str, Any]) -> str:
    """A file name for an index definition, readable and unambiguous."""
    return f"{definition['index']}-{value_hash(definition, 8)}"


def ensure_index(
    collection: Collection, kind: str, definition: Mapping[str, Any], cache_dir: str | Path, threads: int
) -> dict[str, Any]:
    """Build the index of ``definition``, that of a retriever of ``kind``, over ``collection`` unless the cache has it.

    Returns a receipt: path (relative to the cache), corpus, definition. A half-built index is never seen: it is
    built under a temporary name and renamed; where two jobs build the same one, the first rename wins.
    """
    retriever, corpus = RETRIEVER_KINDS[kind], collection.corpus_identity()
    decisive = {"corpus": corpus, **retriever.index_identity(definition)}
    relative = Path("indexes") / value_hash(decisive, 24)
    final = Path(cache_dir) / relative
    started = time.monotonic()
    if not final.is_dir():
        temporary = final.with_name(f".tmp-{uuid.uuid4().hex[:12]}-{final.name}")
        temporary.parent.mkdir(parents=True, exist_ok=True)
        try:
            retriever.build_index(collection, definition, temporary, threads)
            try:
                temporary.rename(final)
            except OSError:
                if not final.is_dir():  # another job's index, equal to ours, is as good
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return {
        "path": str(relative),
        "corpus": corpus,
        "definition": dict(definition),
        "seconds": round(time.monotonic() - started, 1),
    }


def index_path(receipt: str | Path, cache_dir: str | Path) -> Path:
    """The folder that ``receipt`` speaks of. Raises InputError where the cache has lost it since."""
    path = Path(cache_dir) / json.loads(Path(receipt).read_text(encoding="utf-8"))["path"]
    if not path.is_dir():
        raise InputError(receipt, f"no index {path} any more", "it; delete this receipt, and the index is built anew")
    return path
