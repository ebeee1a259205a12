"""What the target check_cache says of a cache."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.io.atomic_files import temporary_beside
from ragrelay.base.io.file_hashes import SAMPLE_BYTES, SAMPLES, kept_hash, write_hashes
from ragrelay.base.io.parquet_parts import PartStore
from ragrelay.execution.jobs.cache_check import check_cache

LARGE = 3 * SAMPLES * SAMPLE_BYTES


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with a part, an index, reference embeddings in a folder and in a file, and the hash of a model's file."""
    rows = pl.DataFrame({"key": ["a"]})
    PartStore(tmp_path / "scores/print", rows.schema, ["key"]).add(rows, {})
    for name in ("indexes/one", "references/two"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "large").write_bytes(bytes(LARGE))
        write_hashes(tmp_path / name)
    (tmp_path / "references/three.npz").write_bytes(b"few bytes")
    write_hashes(tmp_path / "references/three.npz")
    (tmp_path / "model").write_bytes(b"weights")
    kept_hash(tmp_path / "model", tmp_path)
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
    "hashes/*": lambda path: change(path, 3),
}


def test_a_sound_cache(cache: Path) -> None:
    assert list(check_cache(cache)) == []


@pytest.mark.parametrize("name", HARMED)
def test_damage_is_named(cache: Path, name: str) -> None:
    """An index's damage is found even between the samples that a job looks at."""
    [path] = cache.glob(name)
    HARMED[name](path)
    [said] = check_cache(cache)
    assert said.startswith(f"{path}: damaged (") and said.endswith("; delete it, and the next run will recreate it")


def test_a_hash_of_before_that_is_not_its_files(cache: Path) -> None:
    """It says nothing of its file until it is used, which believes it."""
    [entry] = (cache / "hashes").iterdir()
    entry.write_text("0" * 64)
    assert list(check_cache(cache)) == []
    assert kept_hash(cache / "model", cache) == "0" * 64
    expected = f"{entry}: damaged (not the hash of {cache / 'model'}); delete it, and the next run will recreate it"
    assert list(check_cache(cache)) == [expected]
    (cache / "model").write_bytes(b"others")
    assert list(check_cache(cache)) == [], "of a file that is no longer as it was"


def test_damaged_samples_of_an_index_are_named(cache: Path) -> None:
    """All bytes have their hash, and yet the next job that uses it would make it again."""
    place = cache / "indexes/one/hashes.json"
    known = json.loads(place.read_text())
    known["large"]["samples"] = "0" * 64
    place.write_text(json.dumps(known))
    [said] = check_cache(cache)
    assert said.startswith(f"{cache / 'indexes/one'}: damaged (the samples of large do not have their hash)")


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
    assert said[str(dead)] == "left behind by a killed job; the next job that writes there will remove it"
    assert said[str(old)].startswith("written by a job here or elsewhere, last changed 1970-01-01")
