"""Index the keys in each part (file) of a store, so that jobs only read and check the parts that they need.

The index is the file ``keys.index`` in the store's folder. It consists of an 8-byte hash for each row's key and a line
of JSON, preceded by a SHA-256 hash of both. Parts that are missing from the index or have changed are read and added.
If several jobs write the index, the last write wins. An index that is missing, damaged or based on other key columns is
rebuilt from the parts.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.io.atomic_files import atomic
from ragrelay.base.io.cache_mode import read_only
from ragrelay.base.io.file_hashes import UNREADABLE

log = logging.getLogger(__name__)

NAME = "keys.index"
"""The index's file name. Change it whenever the format or key_hashes changes, as several versions may share a cache."""
DIGEST_BYTES = 32
ROWS_AT_ONCE = 1 << 16
FILLER = "\0" * 8
MULTIPLIER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class IndexedPart(NamedTuple):
    """A part's entry in the index: the part's ``version`` (from part_version) and the sorted hashes of its ``keys``."""

    version: list[int]
    keys: np.ndarray

    def holds(self, keys: np.ndarray) -> bool:
        """Return whether the part contains at least one of ``keys`` (hashes), barring rare hash collisions."""
        few, many = sorted((self.keys, keys), key=len)
        return bool(len(few) and (many[np.searchsorted(many[:-1], few)] == few).any())


def part_version(part: Path) -> list[int]:
    """Return the size, modification time (ns) and inode of ``part``."""
    status = part.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def part_keys(part: Path, key: Sequence[str]) -> np.ndarray:
    """Return the sorted hashes of the keys in ``part``, which must be undamaged."""
    with pq.ParquetFile(part) as file:
        pieces = (key_hashes(pl.DataFrame(batch), key) for batch in file.iter_batches(ROWS_AT_ONCE, columns=[*key]))
        return np.sort(np.concatenate([np.empty(0, "<u8"), *pieces]))


def key_hashes(rows: pl.DataFrame, key: Sequence[str]) -> np.ndarray:
    """Hash each row's ``key`` columns. Returns the sorted 64-bit hashes, which are the same on every machine."""
    texts = rows.select(pl.concat_str(pl.col(key).cast(pl.String).fill_null("\0"), separator="\x1f"))
    pieces = (_hashes(piece.to_series()) for piece in texts.iter_slices(ROWS_AT_ONCE))
    return np.sort(np.concatenate([np.empty(0, "<u8"), *pieces]))


def _hashes(texts: pl.Series) -> np.ndarray:
    content = FILLER.join([*texts, ""]).encode()
    words = np.ndarray(len(content) - 7, "<u8", content, strides=(1,))  # the 8 bytes that start at each byte
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    starts = np.cumsum(lengths + len(FILLER)) - lengths - len(FILLER)
    hashes = np.zeros(len(texts), "<u8")
    for place in range(0, lengths.max(initial=0), 8):
        rest = np.flatnonzero(lengths > place)
        mixed = (hashes[rest] ^ words[starts[rest] + place]) * MULTIPLIER
        hashes[rest] = mixed ^ (mixed >> SHIFT)
    return hashes


def read_index(folder: Path, key: Sequence[str]) -> dict[str, IndexedPart]:
    """Read a store's index, keyed by part name. Returns {} if there is no undamaged index for ``key``."""
    try:
        content = (folder / NAME).read_bytes()
        if hashlib.sha256(memoryview(content)[DIGEST_BYTES:]).digest() != content[:DIGEST_BYTES]:
            raise ValueError("its bytes have changed")
        end = content.rindex(b"\n")
        told = json.loads(content[end:])
        names, versions, rows = zip(*told["parts"], strict=True)
        keys = np.split(np.frombuffer(content, "<u8", sum(rows), DIGEST_BYTES), np.cumsum(rows)[:-1])
        return dict(zip(names, map(IndexedPart, versions, keys), strict=True)) if told["key"] == [*key] else {}
    except UNREADABLE as error:
        log.info("%s: rebuilding the index of the parts (%s)", folder, error)
        return {}


def write_index(folder: Path, key: Sequence[str], parts: Mapping[str, IndexedPart]) -> None:
    """Write a store's index (a mapping from part names to entries) if the cache is writable."""
    if read_only() or not parts:
        return
    told = {"key": key, "parts": [[name, part.version, len(part.keys)] for name, part in parts.items()]}
    content = b"".join([*(part.keys.data for part in parts.values()), b"\n", json.dumps(told).encode()])
    try:
        with atomic(folder / NAME) as temporary, temporary.open("wb") as file:
            file.writelines([hashlib.sha256(content).digest(), content])
    except OSError as error:
        log.info("%s: can't write the index (%s); the next job will hash the same parts again", folder / NAME, error)
