"""Whether a file has changed: by size and time, or by its content."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragrelay.errors import InputError
from ragrelay.io.file_hashes import kept_hash
from ragrelay.io.hashing import file_hash

SMALL = 1 << 16
"""Bytes up to which a file is hashed whenever its hash is needed, which takes no longer than looking the hash up."""

Version = tuple[int, int]


def file_version(path: str | Path) -> Version | None:
    """Size and time of modification (ns) of a file; None where there is none.

    The inode is left out: some file systems change it although the file does not change.
    """
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@contextmanager
def unchanged(paths: Iterable[str]) -> Iterator[None]:
    """Raise InputError if one of the files ``paths`` changes meanwhile, in place of any error that results from it."""
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
            expected = "one that stays as it is until the job ends; run the same command again"
            raise InputError(path, "a file that changed while the job read it", expected)


def content_hash(path: Path, cache_dir: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits: made now of a small file, kept in the cache of a large one."""
    return file_hash(path) if path.stat().st_size <= SMALL else kept_hash(path, cache_dir)
