"""Indexes: built once per corpus and settings, kept in the cache under a hash, never changed after."""

import json
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError
from ragrelay.io.hashing import value_hash
from ragrelay.models.locations import model_identity
from ragrelay.retrieval import bm25, dense, pipeline, terrier

BUILDERS: dict[str, Callable[[Collection, Mapping[str, Any], Path, int], None]] = {
    "pisa": bm25.build_index,
    "terrier": terrier.build_index,
    "dense": dense.build_index,
    "pyterrier": pipeline.build_index,
}
OF_DENSE = ("model", "encoder", "passage_prefix", "batch_size")
UNDECISIVE = ("batch_size",)
"""What an index is built with and yet does not depend on."""


def index_definition(retriever: Mapping[str, Any]) -> dict[str, Any] | None:
    """What of a retriever's definition decides its index: None where it needs none."""
    if retriever["kind"] == "bm25":
        return {"index": retriever["engine"], "stemmer": retriever["stemmer"], "stopwords": retriever["stopwords"]}
    if retriever["kind"] == "dense":
        return {"index": "dense"} | {key: retriever[key] for key in OF_DENSE}
    if retriever["kind"] == "pyterrier" and "index" in retriever:
        return {"index": "pyterrier", "builder": retriever["index"], "code": retriever["code"]["index"]}
    return None


def index_name(definition: Mapping[str, Any]) -> str:
    """A file name for an index definition, readable and unambiguous."""
    return f"{definition['index']}-{value_hash(definition, 8)}"


def ensure_index(
    collection: Collection, definition: Mapping[str, Any], cache_dir: str | Path, threads: int
) -> dict[str, Any]:
    """Build the index of ``definition`` over ``collection`` unless the cache has it.

    Returns a receipt: path (relative to the cache), corpus, definition. A half-built index is never seen: it is
    built under a temporary name and renamed; where two jobs build the same one, the first rename wins.
    """
    corpus = collection.corpus_identity()
    settings = {key: value for key, value in definition.items() if key not in UNDECISIVE}
    decisive = {"corpus": corpus, **settings, **_versions(definition)}
    relative = Path("indexes") / value_hash(decisive, 24)
    final = Path(cache_dir) / relative
    started = time.monotonic()
    if not final.is_dir():
        temporary = final.with_name(f".tmp-{uuid.uuid4().hex[:12]}-{final.name}")
        temporary.parent.mkdir(parents=True, exist_ok=True)
        try:
            BUILDERS[definition["index"]](collection, definition, temporary, threads)
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


def _versions(definition: Mapping[str, Any]) -> dict[str, str]:
    if definition["index"] == "dense":
        return {"weights": model_identity(definition["model"])}
    return {"version": terrier.VERSION} if definition["index"] == "terrier" else {}
