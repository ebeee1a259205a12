"""Fetching from a hub (a fake one), and what jobs say without it. Each in a process of its own, as jobs are."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ragrelay.execution.fetching.downloads import (
    catalogued_datasets,
    downloads_of,
    hub_files,
    required_downloads,
    uses_terrier,
)
from ragrelay.retrieval.terrier import VERSION

from tests.support.bad_input_changes import NO_TENSORS
from tests.support.fake_hub import COMMIT, FakeHub
from tests.support.sandbox import ROOT
from tests.support.terrier_jars import needs_terrier, pyterrier_home
from tests.unit.conftest import study_of

pytestmark = pytest.mark.process

Ask = Callable[..., str]
SECTIONS = ("datasets", "retrievers", "generators", "scorers")
FETCH = (
    "from ragrelay.execution.fetching.inputs import *; print(fetch_hub_files('lab/lm', None, {part!r}, 'config key x'))"
)
MODEL, TOKENIZER, ADAPTER = (FETCH.format(part=part) for part in ("model", "tokenizer", "adapter"))
CHECK = "from ragrelay.base.models.hubs import *; check_cached('lab/lm', None, 'generator'); print('there')"


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
    assert "found no files of 'lab/lm' in the hub's cache" in ask(CHECK, HF_HUB_OFFLINE="1")
    with FakeHub({"lab/lm": tiny_llama}) as hub:
        assert COMMIT in ask(MODEL, HF_ENDPOINT=hub.url)
    assert ask(CHECK, HF_HUB_OFFLINE="1") == "there"
    assert COMMIT in ask(MODEL, HF_HUB_OFFLINE="1"), "it is checked without the hub too"
    assert COMMIT in ask(MODEL, HF_ENDPOINT="http://127.0.0.1:9"), "an unreachable hub is no error once all is there"


def test_unreachable_unknown_and_switched_off(ask: Ask, tiny_llama: Path) -> None:
    assert "expected a reachable hub" in ask(MODEL, HF_ENDPOINT="http://127.0.0.1:9")
    with FakeHub({"lab/other": tiny_llama}) as hub:
        assert "config key x: found 'lab/lm' unavailable" in ask(MODEL, HF_ENDPOINT=hub.url)
    assert "since HF_HUB_OFFLINE is set; unset that to download it" in ask(MODEL, HF_HUB_OFFLINE="1")


def test_missing_shard(ask: Ask, tiny_llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_llama, tmp_path / "sharded")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model.safetensors", "b": "two"}}')
    with FakeHub({"lab/lm": folder}) as hub:
        assert "found no two, which " in ask(MODEL, HF_ENDPOINT=hub.url)


def test_a_tokenizer_comes_without_weights(ask: Ask, tiny_llama: Path, tmp_path: Path) -> None:
    with FakeHub({"lab/lm": tiny_llama}) as hub:
        assert ask(TOKENIZER, HF_ENDPOINT=hub.url).startswith("{'commit'")
    assert not list((tmp_path / "hub").rglob("*.safetensors"))
    assert ask(CHECK, HF_HUB_OFFLINE="1") == "there"


def test_adapter(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"r": 8}')
    with FakeHub({"lab/lm": folder}) as hub:
        without = ask(ADAPTER, HF_ENDPOINT=hub.url, HF_HOME=str(tmp_path / "elsewhere"))
        assert "config key x: found no adapter_model.safetensors in" in without
        (folder / "adapter_model.safetensors").write_bytes(NO_TENSORS)
        assert ask(ADAPTER, HF_ENDPOINT=hub.url).startswith("{'commit'")
    assert ask(CHECK, HF_HUB_OFFLINE="1") == "there"


@needs_terrier
def test_terrier(ask: Ask, tmp_path: Path) -> None:
    """If Maven Central is out of reach and the jars are not there, the message says where they belong."""
    code = "from ragrelay.execution.fetching.inputs import *; print(fetch_terrier())"
    nowhere = {"JAVA_TOOL_OPTIONS": "", "https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    assert "or a network to get it" in ask(code, PYTERRIER_HOME=str(tmp_path / "empty"), **nowhere)
    assert f"[version={VERSION} " in ask(code, PYTERRIER_HOME=str(pyterrier_home(tmp_path / "home")), **nowhere)


def test_what_a_grid_takes(config: dict[str, Any], tmp_path: Path) -> None:
    config["retrievers"] |= {
        "t5": {**config["retrievers"]["t5"], "tokenizer": "t5-base"},
        "tct": {"kind": "dense", "model": "lab/tct", "encoder": "tct_colbert"},
        "terrier": {"kind": "bm25", "engine": "terrier"},
    }
    big = {"model": "lab/lm", "revision": "v1", "prompt": "tian2025"}
    config["generators"] |= {
        "big": {**big, "adapter": "lab/lora", "adapter_revision": "v2"},
        "random": {**big, "load_format": "dummy"},
        "served": {"engine": "openai", "model": "served", "tokenizer": "lab/other", "prompt": "tian2025"},
    }
    config["scorers"]["bert"] = {"kind": "bertscore", "model": "google-bert/bert", "layer": 18}
    assert hub_files(study_of(config, tmp_path)) == []
    assert not uses_terrier(study_of(config, tmp_path))
    config["grid"] |= {
        "retrievers": ["t5", "tct", "terrier"], "generators": ["big", "random", "served"], "scorers": ["bert"],
    }  # fmt: skip
    study = study_of(config, tmp_path)
    taken = [(entry["name"], entry["revision"], entry["part"], entry["place"]) for entry in hub_files(study)]
    assert taken == [
        ("castorini/monot5-base-msmarco", None, "model", "config key 'retrievers.t5.model'"),
        ("t5-base", None, "tokenizer", "config key 'retrievers.t5.tokenizer'"),
        ("lab/tct", None, "model", "config key 'retrievers.tct.model'"),
        ("bert-base-uncased", None, "tokenizer", "config key 'retrievers.tct.encoder'"),
        ("lab/lm", "v1", "model", "config key 'generators.big.model'"),
        ("lab/lora", "v2", "adapter", "config key 'generators.big.adapter'"),
        ("lab/lm", "v1", "tokenizer", "config key 'generators.random.model'"),
        ("lab/other", None, "tokenizer", "config key 'generators.served.tokenizer'"),
        ("google-bert/bert", None, "model", "config key 'scorers.bert.model'"),
    ]
    assert uses_terrier(study)
    assert catalogued_datasets(study) == []
    # Each is fetched once, and a job waits for those of the entries that it uses.
    entries = [
        (section, one)
        for section in study.selected()
        if section in SECTIONS
        for one in study.selected()[section].values()
    ]
    names = {name for section, entry in entries for name in downloads_of(section, entry)}
    assert set(required_downloads(study)) == names
    assert len(required_downloads(study)) == len(taken) + 1
