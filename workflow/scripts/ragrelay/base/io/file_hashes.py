"""Store hashes when cached files are written, and check the hashes when the files are used.

If an older version cached a file without hashes, the hashes are stored when the file is first used.
"""

import hashlib
import json
import logging
import os
import re
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_mode import check_writable, read_only
from ragrelay.base.io.hashing import file_hash, value_hash

log = logging.getLogger(__name__)

NAME = "hashes.json"
BLOCK_BYTES = 1 << 22
"""Block size. A file's hash is the hash of its blocks' hashes, so that several cores can share the work."""
SAMPLES, SAMPLE_BYTES = 64, 1 << 16
"""Number and size of the quick hash's blocks, which are evenly spread from a file's first byte to its last."""
THREADS = 8
UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, pl.exceptions.PolarsError)
"""Errors from reading a cached file that is damaged or has lost its hashes."""
FOLDER = "hashes"
BARE = re.compile(rb"[0-9a-f]{64}")


def write_hashes(path: Path) -> None:
    """Store the size, a hash of samples and a hash of all bytes, for one file or for every file in a folder.

    The sizes and hashes are written to ``hashes.json`` in the folder, or to ``<name>.hashes.json`` next to the file.
    """
    write_json({name: _described(file) for name, file in _files(path).items()}, _place(path))


def check_hashes(path: Path, whole: bool) -> None:
    """Raise ValueError if a file, or any file in a folder, has changed since its hashes were written.

    ``whole``: whether to check every byte instead of only sizes and samples. Files added to the folder later are
    ignored. If no hashes have been stored yet, the current hashes are stored and a warning is logged.
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


def usable(folder: Path, what: str) -> bool:
    """Return whether a cache folder exists and is undamaged. A damaged folder is removed.

    ``what``: a noun for the log, such as "index". Raises InputError for a damaged folder in a read-only cache.
    """
    from ragrelay.base.io.atomic_files import remove_folder  # imported here for a fast start

    if not folder.is_dir():
        return False
    try:
        check_hashes(folder, whole=False)
    except (OSError, ValueError, KeyError) as error:
        log.warning("%s: rebuilding the damaged %s (%s)", folder, what, error)
        check_writable(f"a damaged {what} is in", folder)
        remove_folder(folder)
        return False
    return True


def _adopt(path: Path) -> None:
    log.warning("%s: an older version stored no hashes for this folder; assuming that its files are undamaged", path)
    if read_only():
        return
    try:
        write_hashes(path)
    except OSError as error:
        log.warning("%s: can't write the hashes (%s)", path, error)


def _place(path: Path) -> Path:
    return path / NAME if path.is_dir() else path.with_name(f"{path.name}.{NAME}")


def _files(path: Path) -> dict[str, Path]:
    """Return the files in a folder by relative path, or the file itself."""
    if not path.is_dir():
        return {path.name: path}
    files = {str(file.relative_to(path)): file for file in sorted(path.rglob("*")) if file.is_file()}
    return {name: file for name, file in files.items() if name != NAME and not file.name.startswith(".")}


def _described(file: Path) -> dict[str, object]:
    size = file.stat().st_size
    samples, whole = _hash(file, _samples(size), SAMPLE_BYTES), _hash(file, _blocks(size), BLOCK_BYTES)
    return {"size": size, "samples": samples, "whole": whole}


def _blocks(size: int) -> Sequence[int]:
    return range(0, size, BLOCK_BYTES)


def _samples(size: int) -> Sequence[int]:
    """Return where samples start. The last one ends where the file ends; small files are sampled completely."""
    if size <= SAMPLES * SAMPLE_BYTES:
        return range(0, size, SAMPLE_BYTES)
    return [(size - SAMPLE_BYTES) * place // (SAMPLES - 1) for place in range(SAMPLES)]


def _hash(file: Path, starts: Sequence[int], length: int) -> str:
    """Return the SHA-256 (64 hex digits) of the hashes of blocks of ``length`` bytes that begin at ``starts``."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            digests = threads.map(lambda start: hashlib.sha256(os.pread(descriptor, length, start)).digest(), starts)
            return hashlib.sha256(b"".join(digests)).hexdigest()
    finally:
        os.close(descriptor)


def kept_hash(path: Path, cache_dir: Path | None, make: Callable[[Path], str] = file_hash) -> str:
    """Return a file's hash, using the hash stored in ``cache_dir`` unless the file is new or has changed."""
    if cache_dir is None:
        return make(path)
    entry = cache_dir / FOLDER / _name(path)
    kept = entry.read_bytes() if entry.is_file() else b""
    digest = kept[:64].decode("ascii", "replace")
    whole = _entry(entry.name, digest, path.resolve())
    if kept == whole:
        return digest
    if not BARE.fullmatch(kept):
        digest = make(path)
        whole = _entry(entry.name, digest, path.resolve())
    if not read_only():
        from ragrelay.base.io.atomic_files import write_text  # imported here for a fast start

        try:
            write_text(whole.decode("utf-8"), entry)
        except OSError as error:
            place, expected = "config key 'cache_dir'", "a writable folder"
            raise InputError(place, f"{cache_dir} ({error.strerror})", expected) from None
    return digest


def kept_damage(entry: Path) -> str:
    """Return why the hash stored in the file ``entry`` is wrong, or an empty string if it is right."""
    kept = entry.read_bytes()
    if BARE.fullmatch(kept):
        return ""  # an old entry, which doesn't name its file
    digest, path = kept[:64].decode("ascii", "replace"), Path(kept[82:].decode("utf-8", "replace"))
    if kept != _entry(entry.name, digest, path):
        return "its bytes do not have their hash"
    same = path.is_file() and _name(path) == entry.name
    return f"not the hash of {path}" if same and file_hash(path) != digest else ""


def _name(path: Path) -> str:
    stat = path.stat()
    return value_hash([str(path.resolve()), stat.st_size, stat.st_mtime_ns], digits=40)


def _entry(name: str, digest: str, path: Path) -> bytes:
    return f"{digest} {value_hash([name, digest, str(path)])} {path}".encode()
