"""Hashes of files outside the cache, such as models: kept in ``<cache_dir>/hashes``, as hashing these takes minutes.

An entry is named by path, size and modification time of its file. It has the hash, a check of the entry itself, and the
path: a damaged entry is made again, where it would otherwise count as another model. One of before has the hash alone.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ragrelay.errors import InputError
from ragrelay.io.cache_mode import read_only
from ragrelay.io.hashing import file_hash, value_hash

FOLDER = "hashes"
BARE = re.compile(rb"[0-9a-f]{64}")


def kept_hash(path: Path, cache_dir: Path | None, make: Callable[[Path], str] = file_hash) -> str:
    """The hash that ``make`` gives for ``path``, or was kept if the file has not changed since. Raises as ``make``."""
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
        from ragrelay.io.atomic_files import write_text  # here, as every start of Snakemake imports this module

        try:
            write_text(whole.decode("utf-8"), entry)
        except OSError as error:
            place, expected = "config key 'cache_dir'", "a folder that can be written to"
            raise InputError(place, f"{cache_dir} ({error.strerror})", expected) from None
    return digest


def kept_damage(entry: Path) -> str:
    """What is wrong with an entry, or with its hash where the file is as it was then; empty where nothing is."""
    kept = entry.read_bytes()
    if BARE.fullmatch(kept):
        return ""  # of a file that nobody knows
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
