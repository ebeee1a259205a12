"""Determine whether a file has changed, by size and time or by content."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.file_hashes import kept_hash
from ragrelay.base.io.hashing import file_hash

SMALL = 1 << 16
"""Bytes up to which a file is hashed every time, which takes no longer than looking up its hash."""

Version = tuple[int, int]


def file_version(path: str | Path) -> Version | None:
    """Return size and modification time (ns) of a file; None if it is missing.

    The inode does not count, because some file systems change it for an unchanged file.
    """
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Raise InputError if one of the files ``paths`` changes meanwhile, instead of any error that results from it."""
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
    """Return the SHA-256 of a file's bytes, 64 hex digits. The cache keeps that of a large file."""
    return file_hash(path) if path.stat().st_size <= SMALL else kept_hash(path, cache_dir)
