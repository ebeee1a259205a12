"""A model folder that changes while a study runs: never two models' answers under one fingerprint."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.fingerprint import checked_start, fingerprint


@pytest.fixture
def moved(generator: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """A generator whose model folder may be written to."""
    shutil.copytree(generator["model"], tmp_path / "model")
    return {**generator, "model": str(tmp_path / "model")}


def change(generator: dict[str, Any]) -> None:
    weights = Path(generator["model"]) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")


def test_unchanged(moved: dict[str, Any], tmp_path: Path) -> None:
    assert checked_start(moved, fingerprint(moved), lambda: "started", tmp_path / "cache") == "started"


def test_changed_before_the_start(moved: dict[str, Any], tmp_path: Path) -> None:
    expected, starts = fingerprint(moved, cache_dir=tmp_path / "cache"), []
    change(moved)
    with pytest.raises(InputError) as error:
        checked_start(moved, expected, lambda: starts.append(1), tmp_path / "cache")
    assert str(tmp_path / "model") in str(error.value) and expected in str(error.value)
    assert starts == []


def test_changed_while_it_loads(moved: dict[str, Any], tmp_path: Path) -> None:
    expected = fingerprint(moved, cache_dir=tmp_path / "cache")
    with pytest.raises(InputError, match="files that changed after the study was started"):
        checked_start(moved, expected, lambda: change(moved), tmp_path / "cache")


def test_how_weights_are_read_decides_nothing_unless_they_are_made_up(generator: dict[str, Any]) -> None:
    prints = {how: fingerprint({**generator, "load_format": how}) for how in ("auto", "safetensors", "dummy")}
    assert prints["auto"] == prints["safetensors"] != prints["dummy"]
