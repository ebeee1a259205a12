"""Files of a model's folder: whole, and of a sort that the libraries know, without loading any."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.models.locations import check_model, check_window
from ragrelay.base.models.model_files import (
    TOKENIZER_FILES,
    check_quantization,
    check_safetensors,
    check_tokenizer_ends,
)
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.job import start_checked
from ragrelay.generation.requests import window_of
from ragrelay.generation.tokens import load_tokenizer
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

MODEL = {"engine": "vllm", "trust_remote_code": False}


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_file({"a": np.ones((3, 4), np.float32), "b": np.zeros(2, np.int64)}, path, metadata={"format": "pt"})
    return path


def test_every_cut_of_weights_is_seen_as_the_library_sees_it(weights: Path) -> None:
    """The check and safetensors' own reader agree on every length that the file can be cut to, and on a longer one."""
    whole = weights.read_bytes()
    for content in [whole[:length] for length in range(len(whole))] + [whole + b"x", whole]:
        weights.write_bytes(content)
        try:
            with safe_open(weights, "numpy") as read:
                opens = set(read.keys()) == {"a", "b"}
        except SafetensorError:
            opens = False
        try:
            check_safetensors("x", weights)
            passes = True
        except InputError:
            passes = False
        assert passes == opens == (content == whole), len(content)


@pytest.mark.parametrize(
    "header", [b"[]", b'{"a": 1}', b'{"a": {"data_offsets": "x"}}', b'{"a": {"data_offsets": [0]}}', b"[" * 100_000]
)
def test_headers_that_are_none(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match=r"^x: found .*model.safetensors \([\d,]+ bytes\), which isn't a valid"):
        check_safetensors("x", path)


def test_only_the_header_of_weights_is_read(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start must not read gigabytes: a file of a gigabyte with holes is checked, and 8 + header bytes are read."""
    header = json.dumps({"a": {"dtype": "U8", "shape": [2**30], "data_offsets": [0, 2**30]}}).encode()
    with weights.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 2**30)
    read: list[int] = []
    opened = Path.open

    def counting(path: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        file = opened(path, mode, *rest, **more)
        original = file.read

        class Counting:
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def read(self, size: int = -1) -> bytes:
                found: bytes = original(size)
                read.append(len(found))
                return found

        return Counting()

    monkeypatch.setattr(Path, "open", counting)
    check_safetensors("x", weights)
    assert sum(read) == 8 + len(header)


@pytest.mark.parametrize(
    ("described", "longest"),
    [
        ({"max_position_embeddings": 512}, 512),
        ({"text_config": {"max_position_embeddings": 512}, "max_position_embeddings": 64}, 512),
        ({"max_position_embeddings": 512, "rope_scaling": {"type": "linear", "factor": 4.0}}, 2048),
        ({"max_position_embeddings": 512, "rope_parameters": {"rope_type": "dynamic", "factor": 2}}, 1024),
        ({"max_position_embeddings": 512, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 512),
        ({"max_position_embeddings": 512, "rope_parameters": {"rope_type": "yarn", "factor": 4}}, 512),
        ({"max_position_embeddings": 512, "rope_scaling": None}, 512),
    ],
)
def test_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, described: dict[str, Any], longest: int) -> None:
    """They are those that vLLM takes, longer ones if the environment says so, and any where nothing is known."""
    folder = tmp_path / "lm"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(described))
    generator = {"model": str(folder), "max_tokens": 16}
    check_window("config key 'x", {**generator, "max_model_len": longest})
    message = rf"^config key 'x.max_model_len': found {longest + 1}, but .* has only {longest} positions; expected"
    with pytest.raises(InputError, match=message):
        check_window("config key 'x", {**generator, "max_model_len": longest + 1})
    monkeypatch.setenv("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "1")
    check_window("config key 'x", {**generator, "max_model_len": longest + 1})
    monkeypatch.delenv("VLLM_ALLOW_LONG_MAX_MODEL_LEN")
    for unknown in ({}, {"rope_parameters": {"full": {"factor": 2}}, "max_position_embeddings": 512}):
        (folder / "config.json").write_text(json.dumps(unknown))
        check_window("config key 'x", {**generator, "max_model_len": 10**6})


@pytest.mark.parametrize("kind", ["llama", "qwen3", "bert", "gemma3_text", "gpt2", "mistral", "mixtral", "t5"])
def test_known_model_types(tmp_path: Path, tiny_llama: Path, kind: str) -> None:
    folder = shutil.copytree(tiny_llama, tmp_path / "lm")
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**described, "model_type": kind}))
    check_model("x", str(folder), tokenizer=True)


@pytest.mark.parametrize("kind", ["lama", "", "Config", 'llama", "', 7, ["llama"]])
def test_unknown_model_types(tmp_path: Path, tiny_llama: Path, kind: Any) -> None:
    """They are refused, but for a model whose own code may be run."""
    folder = shutil.copytree(tiny_llama, tmp_path / "lm")
    described = json.loads((folder / "config.json").read_text()) | {"auto_map": {"AutoConfig": "own.Config"}}
    (folder / "config.json").write_text(json.dumps({**described, "model_type": kind}))
    with pytest.raises(InputError, match=r"found model_type .*; expected a model type .* trust_remote_code: true"):
        check_model("x", str(folder))
    check_model("x", str(folder), own_code=True)


@pytest.mark.parametrize("name", [name for name in TOKENIZER_FILES if name.endswith(".json")])
def test_a_tokenizer_that_is_cut(tmp_path: Path, name: str) -> None:
    """Its ends tell, since these files are large; a tokenizer.json without a model is found when it is hashed."""
    path, whole = tmp_path / name, '{"model": {"vocab": {"a": 1}}}'
    path.write_text(f"\ufeff\n {whole}\n", encoding="utf-8")
    check_tokenizer_ends("x", tmp_path)
    for content in (whole[:-9], whole[1:], f"[{whole}]", "<html>"):
        path.write_text(content)
        with pytest.raises(
            InputError, match=rf"^x: found .*{name}, which is truncated or not a JSON object; expected a comp"
        ):
            check_tokenizer_ends("x", tmp_path)
    path.write_text("")
    with pytest.raises(InputError, match=rf"^x: found .*{name}, which is empty; expected a complete"):
        check_tokenizer_ends("x", tmp_path)


@pytest.mark.parametrize("method", ["fp8", "awq", "gptq", "compressed-tensors", "modelopt"])
def test_known_quantisations(method: str) -> None:
    check_quantization("x", method)


@pytest.mark.parametrize("method", ["fp9", "FP8 ", "", "Literal"])
def test_unknown_quantisations(method: str) -> None:
    with pytest.raises(InputError, match=r"^x: found '.*'; expected a quantisation method that this version of vLLM"):
        check_quantization("x", method)


def test_a_hubs_model_that_does_not_load_is_told_in_one_line(tmp_path: Path, tiny_llama: Path) -> None:
    """Nothing of it is there at the start; a job finds its files, which may be anything."""
    folder = shutil.copytree(tiny_llama, tmp_path / "lm")
    generator = {**MODEL, "model": str(folder)}
    for name, content, read in (
        ("tokenizer.json", '{"model": ', load_tokenizer),
        ("tokenizer.json", '{"model": {"type": "BPE"}}', load_tokenizer),
        ("tokenizer_config.json", "[]", load_tokenizer),
        ("config.json", '{"model_type": "lama"}', window_of),
        ("config.json", "[" * 100_000, window_of),
    ):
        before = (folder / name).read_bytes()
        (folder / name).write_text(content)
        with pytest.raises(InputError, match=r"^generator.*: found a loading error \(.*; expected a") as error:
            read(generator)
        assert str(error.value).isprintable()
        (folder / name).write_bytes(before)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("Unknown quantization method: fp9"), "a model and keys that the engine accepts;"),
        (SafetensorError("header too large"), "a model and keys that the engine accepts;"),
        (KeyError("lm_head"), "a model and keys that the engine accepts;"),
        (ValueError("found unknown key gpu_memory_utilisation"), "a model and keys that the engine accepts;"),
        (RuntimeError("size mismatch for memory.weight"), "a model and keys that the engine accepts;"),
        (ValueError("KV cache dtype fp9 is not supported"), "a model and keys that the engine accepts;"),
        (MemoryError(), "memory for the weights"),
        (ValueError("No available memory for the cache blocks"), "memory for the weights"),
        (ValueError("1.2 GiB KV cache is needed, larger than the available KV cache memory"), "memory for the weights"),
        (ValueError("Free memory on device cuda:0 (1/80 GiB) on startup is less"), "memory for the weights"),
        (ValueError("Available memory on node 0 (1/8 GiB) on kv cache allocation is less"), "memory for the weights"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "memory for the weights"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "memory for the weights"),
        (RuntimeError("Engine core initialization failed"), "a model and keys that the engine accepts, and memory"),
    ],
)
def test_an_engine_that_does_not_start_is_told_by_its_cause(error: Exception, expected: str) -> None:
    def fails(*_: object) -> None:
        raise error

    with pytest.raises(InputError, match=f"^engine of m: found a failed start .*; expected {expected}"):
        start_checked(fails, {"engine": "vllm", "model": "m"}, 512)


def test_a_chat_needs_a_chat_template(tmp_path: Path, tiny_llama: Path) -> None:
    """It may be in any place that transformers reads; an endpoint whose prompts are tokenised here needs one too."""
    folder = shutil.copytree(tiny_llama, tmp_path / "lm")
    for entry in (
        {"engine": "vllm", "model": str(folder)},
        {"engine": "openai", "model": "m", "tokenizer": str(folder)},
    ):
        generator = GENERATOR_KINDS.of({**entry, "prompt": "plain", "chat": True, "max_tokens": 16})
        with pytest.raises(
            InputError, match=r"^config key 'x.chat': found no chat template in .*; expected chat_template"
        ):
            generator.check("config key 'x", _Here())  # type: ignore[arg-type]
        described = (folder / "tokenizer_config.json").read_text()
        (folder / "tokenizer_config.json").write_text(json.dumps({**json.loads(described), "chat_template": "{{ a }}"}))
        generator.check("config key 'x", _Here())  # type: ignore[arg-type]
        (folder / "tokenizer_config.json").write_text(described)
        (folder / "chat_template.jinja").write_text("{{ a }}")
        generator.check("config key 'x", _Here())  # type: ignore[arg-type]
        (folder / "chat_template.jinja").unlink()
        (folder / "chat_template.json").write_text('{"chat_template": "{{ a }}"}')
        with pytest.raises(InputError, match=r"except chat_template\.json, which only image processors"):
            generator.check("config key 'x", _Here())  # type: ignore[arg-type]
        (folder / "chat_template.json").unlink()
        for names, refused in ((["rag", "tool_use"], True), (["rag", "default"], False)):
            templates = [{"name": name, "template": "{{ a }}"} for name in names]
            whole = {**json.loads(described), "chat_template": templates}
            (folder / "tokenizer_config.json").write_text(json.dumps(whole))
            if refused:
                with pytest.raises(InputError, match=r"found the chat templates rag, tool_use in .*none named default"):
                    generator.check("config key 'x", _Here())  # type: ignore[arg-type]
            else:
                generator.check("config key 'x", _Here())  # type: ignore[arg-type]
        (folder / "tokenizer_config.json").write_text(described)


class _Here:
    folder = Path()
