"""Determine whether a file has changed, from its size and modification time or from its content."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.file_hashes import kept_hash
from ragrelay.base.io.hashing import file_hash

SMALL = 1 << 16
"""Files up to this many bytes are hashed every time, which takes no longer than looking up a stored hash."""

Version = tuple[int, int]


def file_version(path: str | Path) -> Version | None:
    """Return a file's size and modification time (ns), or None if the file is missing.

    The inode isn't included, because some file systems change the inode of an unchanged file.
    """
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Raise InputError at the end of the context if a file in ``paths`` has changed, even after another error."""
    before = {path: file_version(path) for path in paths}
    try:
        yield
    except Exception:
        _check(before)
        raise
    _check(before)


def _check(before: dict[str, Version | None]) -> None:
    for path, version in before.items():
        if file_version(path) != version:
            expected = "a file that stays unchanged until the job ends; run the same command again"
            raise InputError(path, "a file that changed while the job read it", expected)


def content_hash(path: Path, cache_dir: Path) -> str:
    """Return the SHA-256 of a file's bytes (64 hex digits). Hashes of large files are stored in the cache."""
    return file_hash(path) if path.stat().st_size <= SMALL else kept_hash(path, cache_dir)
