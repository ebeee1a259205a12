"""Encode the reference texts once per dataset and encoder, and store the embeddings on disk for memory mapping."""

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ragrelay.base.io.atomic_files import atomic_folder, remove_folder, write_json, write_parquet
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.file_hashes import UNREADABLE, check_hashes, write_hashes
from ragrelay.base.io.hashing import text_hash, value_hash
from ragrelay.base.io.missing_counts import before_work
from ragrelay.collection.words import check_known
from ragrelay.scoring.embeddings import TokenEmbeddings

if TYPE_CHECKING:
    from ragrelay.scoring.encoder import Encoder

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EncodedReferences:
    """Memory-mapped embeddings of reference texts. ``rows``: each text's index, by hash; ``facts``: the receipt."""

    embeddings: TokenEmbeddings
    rows: Mapping[str, int]
    facts: Mapping[str, Any]


def open_references(
    cache_dir: Path, fingerprint: str, texts: Sequence[str], encoder: Callable[[], "Encoder"]
) -> EncodedReferences:
    """Open the embeddings of ``texts`` in ``<cache_dir>/references/<hash>/``; compute them first if they are missing.

    The hash is computed from ``fingerprint`` and the texts, regardless of their order. The folder contains the arrays
    of TokenEmbeddings (tokens.npy, weights.npy, offsets.npy), texts.parquet (text_hash, in the order of the rows),
    facts.json, and hashes of these files, which are used to detect and rebuild damaged files. The folder is written
    under a temporary name and then renamed, so that jobs that encode the same texts don't interfere. ``encoder``: a
    function that loads the encoder, called only if texts must be encoded.
    """
    distinct = {text_hash(text): text for text in texts}
    hashes = sorted(distinct)
    name = value_hash([fingerprint, hashes], digits=32)
    folder = cache_dir / "references" / name
    if folder.is_dir():
        try:
            return _open(folder, hashes)
        except UNREADABLE as error:
            log.warning("%s: recomputing damaged reference embeddings (%s)", folder, error)
            check_writable("damaged reference embeddings are in", folder)
            remove_folder(folder)
    check_writable("reference embeddings are not in", folder)
    before_work()
    with atomic_folder(folder) as temporary:
        temporary.mkdir()
        _encode(temporary, name, fingerprint, hashes, [distinct[text] for text in hashes], encoder())
        write_hashes(temporary)
    return _open(folder, hashes)


def _encode(
    folder: Path, name: str, fingerprint: str, hashes: Sequence[str], texts: Sequence[str], encoder: "Encoder"
) -> None:
    check_known(encoder.place, "references", texts, encoder.tokenizer)
    ids = encoder.tokenise(texts)
    weights, offsets = encoder.layout(ids)
    # At least one row, because numpy can't map an empty file.
    shape = (max(len(weights), 1), encoder.dimension)
    path = folder / "tokens.npy"
    tokens = np.lib.format.open_memmap(path, mode="w+", dtype=encoder.storage, shape=shape)
    _reserve(path)
    encoder.encode(ids, tokens, offsets, progress="reference texts")
    tokens.flush()
    np.save(folder / "weights.npy", weights, allow_pickle=False)
    np.save(folder / "offsets.npy", offsets, allow_pickle=False)
    write_parquet(pl.DataFrame({"text_hash": hashes}, schema={"text_hash": pl.String}), folder / "texts.parquet")
    facts = {
        "references_hash": name,
        "fingerprint": fingerprint,
        "texts": len(texts),
        "tokens": len(weights),
        "texts_at_max_length": sum(len(text_ids) == encoder.max_length for text_ids in ids),
        "max_length": encoder.max_length,
        "dimension": encoder.dimension,
        "commit": encoder.commit,
        "versions": {package: version(package) for package in ("torch", "transformers", "tokenizers")},
    }
    write_json(facts, folder / "facts.json")
    log.info("references %s: encoded %d texts (%d tokens in total)", name, len(texts), len(weights))


def _reserve(path: Path) -> None:
    """Reserve disk space for the mapped file ``path``: on a full disk, writing to a map kills the process (SIGBUS).

    Raises OSError with the file's name if there isn't enough.
    """
    if sys.platform != "linux":
        return
    with path.open("r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None


def _open(folder: Path, hashes: Sequence[str]) -> EncodedReferences:
    """Open the encoded texts in ``folder``. Raises one of UNREADABLE unless they are exactly those in ``hashes``."""
    check_hashes(folder, whole=True)
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    rows = {text: row for row, text in enumerate(pl.read_parquet(folder / "texts.parquet", glob=False)["text_hash"])}
    tokens = np.load(folder / "tokens.npy", mmap_mode="r", allow_pickle=False)
    weights, offsets = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("weights", "offsets"))
    forms = [(array.dtype.kind, *array.shape[1:]) for array in (tokens, weights, offsets)]
    if forms != [("f", facts["dimension"]), ("b",), ("i",)] or list(rows) != hashes:
        raise ValueError(f"arrays of another form ({forms}) or other texts")
    embeddings = TokenEmbeddings(tokens, weights, offsets)
    sizes = (len(rows), len(weights), len(tokens))
    if sizes != (facts["texts"], facts["tokens"], max(facts["tokens"], 1)) or len(embeddings) != len(rows):
        raise ValueError(f"sizes {sizes} that differ from facts.json")
    return EncodedReferences(embeddings, rows, facts)
