"""What vLLM is started with, on a GPU and on CPU, checked by vLLM's own argument class."""

from typing import Any

import pytest
import torch
from ragrelay.base.errors import InputError
from ragrelay.config.schema import load_schema
from ragrelay.generation import engine
from ragrelay.generation.engine import engine_arguments


@pytest.fixture
def full(generator: dict[str, Any]) -> dict[str, Any]:
    more = {"quantization": "fp8", "kv_cache_dtype": "fp8", "block_size": 32, "max_num_batched_tokens": 8192}
    more["attention_backend"] = "FLASH_ATTN"
    return {**generator, **more, "load_format": "dummy", "tensor_parallel_size": 2}


def test_gpu(full: dict[str, Any]) -> None:
    found = engine_arguments(full, 4096, on_cpu=False)
    expected = {
        "dtype": "float32", "quantization": "fp8", "kv_cache_dtype": "fp8", "block_size": 32, "load_format": "dummy",
        "max_num_batched_tokens": 8192, "max_num_seqs": 8, "enable_prefix_caching": True, "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.9, "max_model_len": 4096, "attention_backend": "FLASH_ATTN",
    }  # fmt: skip
    assert found.items() >= expected.items()
    assert not {"enforce_eager", "enable_chunked_prefill"} & set(found), "what a GPU does by default stays"


def test_vllm_chooses_what_is_not_given(generator: dict[str, Any]) -> None:
    found = engine_arguments(generator, 512, on_cpu=False)
    assert not {"quantization", "kv_cache_dtype", "block_size", "max_num_batched_tokens", "revision"} & set(found)


def test_cpu_takes_whole_prompts(generator: dict[str, Any]) -> None:
    found = engine_arguments(generator, 512, on_cpu=True)
    assert (found["max_num_batched_tokens"], found["block_size"]) == (4096, 32)
    assert engine_arguments({**generator, "block_size": 64}, 512, on_cpu=True)["block_size"] == 64
    assert engine_arguments({**generator, "tensor_parallel_size": 2}, 512, on_cpu=True)["tensor_parallel_size"] == 1
    long = engine_arguments({**generator, "max_num_batched_tokens": 600}, 9000, on_cpu=True)
    assert long["max_num_batched_tokens"] == 9000 and long["enable_chunked_prefill"] is False


@pytest.mark.parametrize(
    ("capability", "found"),
    [(None, "true on a machine without an NVIDIA GPU"), ((7, 5), r"true on T4 \(compute capability 7.5\)")],
)
def test_batch_invariance_elsewhere_is_one_line(
    generator: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] | None, found: str
) -> None:
    """The line comes before vLLM is started, whose own switch does nothing on CPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: capability is not None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "T4")
    monkeypatch.setattr(engine, "_set_environment", lambda *_: pytest.fail("started"))
    expected = (
        f"generator key batch_invariant: found {found}; expected an NVIDIA GPU of compute capability 8.0 or later"
    )
    with pytest.raises(InputError, match=expected):
        engine.VllmEngine({**generator, "batch_invariant": True}, 512, threads=1)


@pytest.mark.parametrize(("keys", "expected"), [({}, {}), ({"batch_invariant": True, "model_runner": "v2"}, {
    "VLLM_BATCH_INVARIANT": "1", "VLLM_USE_V2_MODEL_RUNNER": "1"})])  # fmt: skip
def test_keys_that_are_variables_of_vllm(
    generator: dict[str, Any], monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], expected: dict[str, str]
) -> None:
    environment: dict[str, str] = {}
    monkeypatch.setattr(engine.os, "environ", environment)
    engine._set_environment({**generator, **keys}, True, 1)
    names = ("VLLM_BATCH_INVARIANT", "VLLM_USE_V2_MODEL_RUNNER")
    assert {name: environment[name] for name in names if name in environment} == expected


def test_vllm_knows_the_arguments_and_the_schemas_choices(full: dict[str, Any]) -> None:
    arg_utils = pytest.importorskip("vllm.engine.arg_utils")
    from typing import get_args

    from vllm.config.cache import CacheDType

    arg_utils.EngineArgs(**engine_arguments(full, 4096, on_cpu=False))
    keys = load_schema()["properties"]["generators"]["additionalProperties"]["properties"]
    assert set(keys["kv_cache_dtype"]["enum"]) <= set(get_args(CacheDType))
