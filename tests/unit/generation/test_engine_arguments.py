"""What vLLM is started with, on a GPU and on CPU, checked by vLLM's own argument class."""

from typing import Any

import pytest
from ragrelay.config.schema import load_schema
from ragrelay.generation.engine import engine_arguments


@pytest.fixture
def full(generator: dict[str, Any]) -> dict[str, Any]:
    more = {"quantization": "fp8", "kv_cache_dtype": "fp8", "block_size": 32, "max_num_batched_tokens": 8192}
    return {**generator, **more, "load_format": "dummy", "tensor_parallel_size": 2}


def test_gpu(full: dict[str, Any]) -> None:
    found = engine_arguments(full, 4096, on_cpu=False)
    expected = {
        "dtype": "float32", "quantization": "fp8", "kv_cache_dtype": "fp8", "block_size": 32, "load_format": "dummy",
        "max_num_batched_tokens": 8192, "max_num_seqs": 8, "enable_prefix_caching": True, "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.9, "max_model_len": 4096,
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
    long = engine_arguments({**generator, "max_num_batched_tokens": 600}, 9000, on_cpu=True)
    assert long["max_num_batched_tokens"] == 9000 and long["enable_chunked_prefill"] is False


def test_vllm_knows_the_arguments_and_the_schemas_choices(full: dict[str, Any]) -> None:
    arg_utils = pytest.importorskip("vllm.engine.arg_utils")
    from typing import get_args

    from vllm.config.cache import CacheDType

    arg_utils.EngineArgs(**engine_arguments(full, 4096, on_cpu=False))
    keys = load_schema()["$defs"]["generator"]["properties"]
    assert set(keys["kv_cache_dtype"]["enum"]) <= set(get_args(CacheDType))
