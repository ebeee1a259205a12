"""Reference texts encoded once per dataset and encoder, kept on disk and memory-mapped."""

import json
import logging
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.io.hashing import text_hash, value_hash
from ragrelay.scoring.embeddings import TokenEmbeddings

if TYPE_CHECKING:
    from ragrelay.scoring.encoder import Encoder

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EncodedReferences:
    """``embeddings``, memory-mapped; ``rows``: a text's hash to its place there; ``facts``: for the receipt."""

    embeddings: TokenEmbeddings
    rows: Mapping[str, int]
    facts: Mapping[str, Any]


def open_references(
    cache_dir: Path, fingerprint: str, texts: Sequence[str], encoder: Callable[[], "Encoder"]
) -> EncodedReferences:
    """The encoded distinct ``texts``, from ``<cache_dir>/references/<hash>/``; encoded and put there if they aren't.

    The hash is that of ``fingerprint`` and the texts, whatever their order. The folder holds tokens.npy [T, dimension],
    weights.npy [T], offsets.npy [n + 1] (see TokenEmbeddings), texts.parquet (text_hash, in the order of the rows) and
    facts.json. It is written under a temporary name and renamed; jobs that encode the same at the same time don't
    disturb each other. ``encoder`` gives the loaded encoder and is called only when there is something to encode.
    """
    distinct = {text_hash(text): text for text in texts}
    hashes = sorted(distinct)
    name = value_hash([fingerprint, hashes], digits=32)
    folder = cache_dir / "references" / name
    if folder.is_dir():
        try:
            return _open(folder)
        except (OSError, ValueError, KeyError, pl.exceptions.PolarsError) as error:
            log.warning("%s: found damaged reference embeddings (%s); they are made again", folder, error)
            _remove(folder)
    temporary = folder.with_name(f".tmp-{uuid.uuid4().hex[:12]}-{name}")
    temporary.mkdir(parents=True)
    try:
        _encode(temporary, name, fingerprint, hashes, [distinct[text] for text in hashes], encoder())
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            log.info("%s: another job was first", folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return _open(folder)


def _encode(
    folder: Path, name: str, fingerprint: str, hashes: Sequence[str], texts: Sequence[str], encoder: "Encoder"
) -> None:
    ids = encoder.tokenise(texts)
    weights, offsets = encoder.layout(ids)
    # One row at least: numpy can't map an empty file.
    shape = (max(len(weights), 1), encoder.dimension)
    tokens = np.lib.format.open_memmap(folder / "tokens.npy", mode="w+", dtype=encoder.storage, shape=shape)
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
        "texts_at_max_length": sum(len(one) == encoder.max_length for one in ids),
        "max_length": encoder.max_length,
        "dimension": encoder.dimension,
        "commit": encoder.commit,
        "versions": {package: version(package) for package in ("torch", "transformers", "tokenizers")},
    }
    write_json(facts, folder / "facts.json")
    log.info("references %s: %d texts, %d tokens encoded", name, len(texts), len(weights))


def _open(folder: Path) -> EncodedReferences:
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    rows = {text: row for row, text in enumerate(pl.read_parquet(folder / "texts.parquet", glob=False)["text_hash"])}
    embeddings = TokenEmbeddings(
        np.load(folder / "tokens.npy", mmap_mode="r", allow_pickle=False),
        np.load(folder / "weights.npy", allow_pickle=False),
        np.load(folder / "offsets.npy", allow_pickle=False),
    )
    sizes = (len(rows), len(embeddings.weights), len(embeddings.tokens))
    if sizes != (facts["texts"], facts["tokens"], max(facts["tokens"], 1)) or len(embeddings) != len(rows):
        raise ValueError(f"sizes {sizes} that differ from facts.json")
    return EncodedReferences(embeddings, rows, facts)


def _remove(folder: Path) -> None:
    """Out of the way first, in one step, as other jobs may look."""
    aside = folder.with_name(f".tmp-{uuid.uuid4().hex[:12]}-damaged")
    folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
