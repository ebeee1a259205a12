"""Hashes of the cache's files: what they notice, and what has none yet."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from ragrelay.base.io.file_hashes import SAMPLE_BYTES, SAMPLES, check_hashes, write_hashes

LARGE = 3 * SAMPLES * SAMPLE_BYTES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a large file, a small one and an empty one in a folder of its own."""
    made = tmp_path / "made"
    (made / "deep").mkdir(parents=True)
    (made / "large").write_bytes(random.Random(1).randbytes(LARGE))
    (made / "small").write_bytes(b"few bytes")
    (made / "deep/empty").touch()
    write_hashes(made)
    return made


def flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: flip(folder / "small", 4), "small do"),
        (lambda folder: flip(folder / "large", 0), "large do"),
        (lambda folder: flip(folder / "large", LARGE - 1), "large do"),
        (lambda folder: (folder / "large").write_bytes(b"cut"), f"large has 3 bytes, not {LARGE}"),
        (lambda folder: (folder / "deep/empty").write_bytes(b"more"), "deep/empty has 4 bytes, not 0"),
        (lambda folder: (folder / "deep/empty").unlink(), "deep/empty is missing"),
        (lambda folder: (folder / "hashes.json").write_text('{"small": '), "Expecting value"),
    ],
)  # fmt: skip
def test_damage(folder: Path, harm: Callable[[Path], None], said: str, whole: bool) -> None:
    check_hashes(folder, whole)
    harm(folder)
    with pytest.raises(ValueError, match=said):
        check_hashes(folder, whole)


def test_between_the_samples_only_the_whole_hash_looks(folder: Path) -> None:
    flip(folder / "large", SAMPLE_BYTES)
    check_hashes(folder, whole=False)
    with pytest.raises(ValueError, match="the bytes of large do not have its hash"):
        check_hashes(folder, whole=True)


def test_what_came_later_is_not_looked_at(folder: Path) -> None:
    (folder / "later").write_text("a searcher's own")
    check_hashes(folder, whole=True)


def test_what_was_made_before_hashes_is_hashed_at_its_first_use(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    known = (folder / "hashes.json").read_text()
    (folder / "hashes.json").unlink()
    check_hashes(folder, whole=False)
    assert caplog.text.count(f"{folder}: an older version stored no hashes") == 1
    assert (folder / "hashes.json").read_text() == known
    caplog.clear()
    check_hashes(folder, whole=True)
    assert caplog.text == ""


def test_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    file.write_bytes(b"few bytes")
    write_hashes(file)
    assert list(json.loads((tmp_path / "vectors.npz.hashes.json").read_text())) == ["vectors.npz"]
    check_hashes(file, whole=True)
    flip(file, 3)
    with pytest.raises(ValueError, match=r"the bytes of vectors.npz do not"):
        check_hashes(file, whole=True)
