"""Hashes of files, kept for large ones alone."""

import os
from pathlib import Path

import pytest
from ragrelay.base.io.file_versions import SMALL, content_hash
from ragrelay.base.io.hashing import file_hash


def write(path: Path, content: bytes, time: int) -> Path:
    path.write_bytes(content)
    os.utime(path, (time, time))
    return path


@pytest.mark.parametrize("size", [2, SMALL, SMALL + 1])
def test_another_time_or_size_is_another_hash(tmp_path: Path, size: int) -> None:
    path, cache = tmp_path / "file", tmp_path / "cache"
    hashes = [
        content_hash(write(path, letter * (size + more), time), cache)
        for letter, time, more in [(b"a", 9, 0), (b"b", 10, 0), (b"c", 8, 0), (b"d", 8, 1)]
    ]
    assert len(set(hashes)) == 4
    assert hashes[-1] == file_hash(path) == content_hash(path, cache)


def test_only_large_files_are_not_read_again(tmp_path: Path) -> None:
    cache, small, large = tmp_path / "cache", tmp_path / "small", tmp_path / "large"
    for content in (b"a", b"b"):
        write(small, content * SMALL, 9)
        write(large, content * (SMALL + 1), 9)
        found = [content_hash(path, cache) for path in (small, large)]
    assert found[0] == file_hash(small)
    assert found[1] != file_hash(large), "its size and time are the same"
    assert len(list((cache / "hashes").iterdir())) == 1
