"""Kept hashes: a damaged one is made again, one of before serves, and what is wrong with one is said."""

from pathlib import Path

import pytest
from ragrelay.base.io.cache_mode import READ_ONLY, VARIABLE
from ragrelay.base.io.file_hashes import kept_damage, kept_hash
from ragrelay.base.io.hashing import file_hash


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """Return the kept hash of the file ``model``."""
    (tmp_path / "model").write_bytes(b"weights")
    kept_hash(tmp_path / "model", tmp_path)
    [made] = (tmp_path / "hashes").iterdir()
    return made


def forbidden(_: Path) -> str:
    raise AssertionError("hashed again")


def test_it_is_made_once(entry: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert kept_hash(model, tmp_path, forbidden) == file_hash(model) and kept_damage(entry) == ""


@pytest.mark.simulation
def test_a_flipped_bit_anywhere_is_noticed_and_mended(entry: Path, tmp_path: Path) -> None:
    whole, model = entry.read_bytes(), tmp_path / "model"
    for place in range(len(whole)):
        for bit in range(8):
            entry.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            assert kept_damage(entry) == "its bytes do not have their hash"
            assert kept_hash(model, tmp_path) == file_hash(model) and entry.read_bytes() == whole
    for damaged in (b"", whole[:63], whole[:70], whole + b"x", b"\xff" * 64):
        entry.write_bytes(damaged)
        assert kept_damage(entry) and kept_hash(model, tmp_path) == file_hash(model) and entry.read_bytes() == whole


def test_one_of_before_serves_and_gets_its_check(entry: Path, tmp_path: Path) -> None:
    whole = entry.read_bytes()
    entry.write_bytes(whole[:64])
    assert kept_damage(entry) == ""
    assert kept_hash(tmp_path / "model", tmp_path, forbidden) == file_hash(tmp_path / "model")
    assert entry.read_bytes() == whole


def test_a_read_only_cache_is_left_as_it_is(entry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, READ_ONLY)
    for kept in (entry.read_bytes()[:64], b"x"):
        entry.write_bytes(kept)
        assert kept_hash(tmp_path / "model", tmp_path) == file_hash(tmp_path / "model")
        assert entry.read_bytes() == kept
