"""Hashes of files in the cache, written when these are made and checked when they are used.

What has no hash yet, of a cache made before there were any, gets it at its first use.
"""

import hashlib
import json
import logging
import os
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.atomic_files import write_json
from ragrelay.io.cache_mode import read_only

log = logging.getLogger(__name__)

NAME = "hashes.json"
BLOCK_BYTES = 1 << 22
"""A whole file's hash is that of the hashes of blocks of so many bytes, so that several cores can work."""
SAMPLES, SAMPLE_BYTES = 64, 1 << 16
"""Blocks of the quick hash, evenly spread from a file's first byte to its last."""
THREADS = 8
UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, pl.exceptions.PolarsError)
"""What reading a cache's files raises that are damaged, or something else under hashes of their own."""


def write_hashes(path: Path) -> None:
    """Write the size and two hashes, of samples and of all bytes, of file ``path``, or of every file in that folder.

    They go into ``hashes.json`` in the folder, or ``<name>.hashes.json`` next to the file.
    """
    write_json({name: _described(file) for name, file in _files(path).items()}, _place(path))


def check_hashes(path: Path, whole: bool) -> None:
    """Raise ValueError where file ``path``, or a file in that folder, isn't as it was when its hashes were written.

    ``whole``: every byte is read, else sizes and samples alone. Files that came later are not looked at. Where there
    are no hashes, they are written from what is there, and the log names ``path``.
    """
    place = _place(path)
    if not place.is_file():
        _adopt(path)
        return
    files = _files(path)
    for name, known in json.loads(place.read_text(encoding="utf-8")).items():
        if name not in files:
            raise ValueError(f"{name} is missing")
        size = files[name].stat().st_size
        if size != known["size"]:
            raise ValueError(f"{name} has {size} bytes, not {known['size']}")
        if whole and _hash(files[name], _blocks(size), BLOCK_BYTES) != known["whole"]:
            raise ValueError(f"the bytes of {name} do not have its hash")
        if _hash(files[name], _samples(size), SAMPLE_BYTES) != known["samples"]:
            raise ValueError(f"the samples of {name} do not have their hash")


def _adopt(path: Path) -> None:
    log.warning("%s: made before hashes were; taken as it is now, and hashed from now on", path)
    if read_only():
        return
    try:
        write_hashes(path)
    except OSError as error:
        log.warning("%s: its hashes can't be written (%s)", path, error)


def _place(path: Path) -> Path:
    return path / NAME if path.is_dir() else path.with_name(f"{path.name}.{NAME}")


def _files(path: Path) -> dict[str, Path]:
    """Files below ``path`` by their place there, or that file itself."""
    if not path.is_dir():
        return {path.name: path}
    files = {str(file.relative_to(path)): file for file in sorted(path.rglob("*")) if file.is_file()}
    return {name: file for name, file in files.items() if name != NAME and not file.name.startswith(".")}


def _described(file: Path) -> dict[str, Any]:
    size = file.stat().st_size
    samples, whole = _hash(file, _samples(size), SAMPLE_BYTES), _hash(file, _blocks(size), BLOCK_BYTES)
    return {"size": size, "samples": samples, "whole": whole}


def _blocks(size: int) -> Sequence[int]:
    return range(0, size, BLOCK_BYTES)


def _samples(size: int) -> Sequence[int]:
    """Where the samples start: the last one ends with the file; all of a small file is sampled."""
    if size <= SAMPLES * SAMPLE_BYTES:
        return range(0, size, SAMPLE_BYTES)
    return [(size - SAMPLE_BYTES) * place // (SAMPLES - 1) for place in range(SAMPLES)]


def _hash(file: Path, starts: Sequence[int], length: int) -> str:
    """SHA-256, 64 hex digits, of the SHA-256 of each block of ``length`` bytes at ``starts``."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            digests = threads.map(lambda start: hashlib.sha256(os.pread(descriptor, length, start)).digest(), starts)
            return hashlib.sha256(b"".join(digests)).hexdigest()
    finally:
        os.close(descriptor)
