"""Build one index per corpus and index settings, and store it in the cache under a hash of corpus and settings."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic_folder
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.file_hashes import usable, write_hashes
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.missing_counts import before_work
from ragrelay.collection.base import Collection
from ragrelay.retrieval.retriever import RETRIEVER_KINDS


def index_name(definition: Mapping[str, object]) -> str:
    """Return a readable, unambiguous file name for an index definition."""
    return f"{definition['index']}-{value_hash(definition, 8)}"


def index_corpus(
    collection: Collection, kind: str, definition: Mapping[str, object], cache_dir: str | Path, threads: int
) -> dict[str, object]:
    """Build an index of ``collection`` for retrievers of one ``kind``, unless the cache already contains the index.

    Returns a receipt: path (relative to the cache), corpus, passages (number), definition (settings) and seconds. The
    index is built under a temporary name and then renamed, so that no job ever sees an incomplete index. If two jobs
    build the same index, the first to rename wins. An index is rebuilt if its files' sizes or sampled bytes change.
    """
    retriever, corpus = RETRIEVER_KINDS[kind], collection.corpus_identity()
    decisive = {"corpus": corpus, **retriever.index_identity(definition), **retriever.outside_code()}
    relative = Path("indexes") / value_hash(decisive, 24)
    final = Path(cache_dir) / relative
    started = time.monotonic()
    if not usable(final, "index"):
        check_writable("no complete index is in", final)
        before_work()
        with atomic_folder(final) as temporary:
            retriever.build_index(collection, definition, temporary, threads)
            write_hashes(temporary)
    return {
        "path": str(relative),
        "corpus": corpus,
        "passages": collection.corpus_size(),
        "definition": dict(definition),
        "seconds": round(time.monotonic() - started, 1),
    }


def opened_index(receipt: str | Path, collection: Collection, kind: str, cache_dir: str | Path, threads: int) -> Path:
    """Return the folder of the index that ``receipt`` describes. Rebuild the index if it is damaged or missing.

    Raises InputError if the rebuilt index differs from the index in the receipt.
    """
    known = json.loads(Path(receipt).read_text(encoding="utf-8"))
    path = Path(cache_dir) / known["path"]
    if not usable(path, "index"):
        built = index_corpus(collection, kind, known["definition"], cache_dir, threads)
        if built["path"] != known["path"]:
            expected = f"{built['path']}, the index of the current corpus and model; delete this file"
            raise InputError(receipt, f"index {known['path']}", expected)
    return path
