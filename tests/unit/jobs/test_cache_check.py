"""What the target check_cache says of a cache."""

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.io.file_hashes import SAMPLE_BYTES, SAMPLES, write_hashes
from ragrelay.io.parquet_parts import PartStore
from ragrelay.io.temporary_paths import temporary_beside
from ragrelay.jobs.cache_check import check_cache

LARGE = 3 * SAMPLES * SAMPLE_BYTES


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with a part, an index and reference embeddings in a folder and in a file."""
    rows = pl.DataFrame({"key": ["a"]})
    PartStore(tmp_path / "scores/print", rows.schema, ["key"]).add(rows, {})
    for name in ("indexes/one", "references/two"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "large").write_bytes(bytes(LARGE))
        write_hashes(tmp_path / name)
    (tmp_path / "references/three.npz").write_bytes(b"few bytes")
    write_hashes(tmp_path / "references/three.npz")
    return tmp_path


def change(file: Path, place: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(b"x")


HARMED: dict[str, Callable[[Path], None]] = {
    "scores/print/part-*.parquet": lambda path: change(path, 40),
    "indexes/one": lambda path: change(path / "large", SAMPLE_BYTES),
    "references/two": lambda path: (path / "large").unlink(),
    "references/three.npz": lambda path: change(path, 2),
}


def test_a_sound_cache(cache: Path) -> None:
    assert list(check_cache(cache)) == []


@pytest.mark.parametrize("name", HARMED)
def test_damage_is_named(cache: Path, name: str) -> None:
    """Of an index also between the samples that a job looks at."""
    [path] = cache.glob(name)
    HARMED[name](path)
    [said] = check_cache(cache)
    assert said.startswith(f"{path}: damaged (") and said.endswith("; delete it, and its content is made again")


def test_leftovers_are_named(cache: Path) -> None:
    own = temporary_beside(cache / "indexes/one")
    machine, process, start = own.name.removeprefix(".tmp-").split("-")[:3]
    dead = own.with_name(f".tmp-{machine}-{process}-{int(start) - 1}-0123abcd-one")
    old = cache / "scores/print/.tmp-0123456789ab-part"
    for path in (dead, old, own):
        path.touch()
    os.utime(old, (0, 0))
    said = dict(line.split(": ", 1) for line in check_cache(cache))
    assert said.keys() == {str(path) for path in (dead, old, own)}
    assert said[str(dead)] == "left by a job that was killed; the next job that writes there removes it"
    assert said[str(old)].startswith("of a job at work or of another machine, changed 1970-01-01")
