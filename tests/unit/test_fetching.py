"""Fetching from a hub (a fake one), and what jobs say without it. Each in a process of its own, as jobs are."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ragrelay.config.study import Study
from ragrelay.fetching import catalogued_datasets, hub_models

from tests.fake_hub import COMMIT, FakeHub
from tests.sandbox import ROOT

Ask = Callable[..., str]
FETCH = "from ragrelay.fetching import *; print(fetch_model('lab/lm', None, 'config key x'))"
CHECK = "from ragrelay.hubs import *; check_cached('lab/lm', None, 'generator'); print('there')"


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """A function that runs Python code with an empty hub cache of its own; the last line of its output."""

    def run(code: str, **environment: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        paths = {"PYTHONPATH": str(ROOT / "workflow/scripts"), "HF_HOME": str(tmp_path / "hub")}
        done = subprocess.run(
            [sys.executable, "-c", code], env={**kept, **paths, **environment}, text=True, capture_output=True
        )
        return (done.stdout + done.stderr).strip().splitlines()[-1]

    return run


def test_fetched_once_then_served_without_the_hub(ask: Ask, tiny_llama: Path) -> None:
    assert "found nothing of 'lab/lm' in the hub's cache" in ask(CHECK, HF_HUB_OFFLINE="1")
    with FakeHub({"lab/lm": tiny_llama}) as hub:
        assert COMMIT in ask(FETCH, HF_ENDPOINT=hub.url)
    assert ask(CHECK, HF_HUB_OFFLINE="1") == "there"
    assert COMMIT in ask(FETCH, HF_HUB_OFFLINE="1"), "it is checked without the hub too"
    assert COMMIT in ask(FETCH, HF_ENDPOINT="http://127.0.0.1:9"), "an unreachable hub is no error once all is there"


def test_unreachable_unknown_and_switched_off(ask: Ask, tiny_llama: Path) -> None:
    assert "expected a hub that can be reached" in ask(FETCH, HF_ENDPOINT="http://127.0.0.1:9")
    with FakeHub({"lab/other": tiny_llama}) as hub:
        assert "config key x: found 'lab/lm' not to be had" in ask(FETCH, HF_ENDPOINT=hub.url)
    assert "as HF_HUB_OFFLINE is set; unset that to fetch it" in ask(FETCH, HF_HUB_OFFLINE="1")


def test_missing_shard(ask: Ask, tiny_llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_llama, tmp_path / "sharded")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model.safetensors", "b": "two"}}')
    with FakeHub({"lab/lm": folder}) as hub:
        assert "found no two of 'lab/lm' in the hub's cache" in ask(FETCH, HF_ENDPOINT=hub.url)


def test_what_a_grid_needs(config: dict[str, Any], tmp_path: Path) -> None:
    study = Study(config, tmp_path, prompts=[ROOT / "config/prompts"])
    study.config["generators"]["big"] = {"model": "lab/lm", "revision": "v1"}
    study.grid["generators"] = ["big"]
    assert {"model": "lab/lm", "revision": "v1", "place": "config key 'generators.big.model'"} in hub_models(study)
    assert catalogued_datasets(study) == []
