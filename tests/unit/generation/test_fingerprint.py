"""The fingerprint: changes with whatever decides an answer, and with nothing else."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.models.locations import model_identity
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import DECODING, NEUTRAL, PENALTIES

CHANGES: dict[str, Any] = {
    "dtype": "bfloat16", "quantization": "fp8", "max_model_len": 1024, "over_window": "truncate", "temperature": 0.0,
    "top_k": 0, "top_p": 0.95, "min_p": 0.05, "max_tokens": 17, "stop": ["END"], "trust_remote_code": True,
    "kv_cache_dtype": "fp8", "load_format": "dummy", "chat": True, "chat_template_kwargs": {"brief": True},
    "date": "2026-01-31", "thinking": ["<think>", "</think>"],
    "adapter": "a/lora", "repetition_penalty": 1.1, "presence_penalty": 0.5, "frequency_penalty": 0.5, "min_tokens": 1,
    "repetition_window": 64, "batch_invariant": True, "model_runner": "v1", "attention_backend": "FLASH_ATTN",
}  # fmt: skip
NO_CHANGES: dict[str, Any] = {
    "prompt": "other", "prefix_caching": False, "max_num_seqs": 1, "max_num_batched_tokens": 64,
    "tensor_parallel_size": 2, "engines_per_job": 2, "gpu_memory_utilization": 0.5, "cpu_kvcache_gib": 4, "threads": 2,
    "block_size": 32, "tokens_per_second": 100.0, "flush_seconds": 1, "notice": "It only copies.",
}  # fmt: skip
ENDPOINT: dict[str, tuple[Any, bool]] = {
    "base_url": ("https://other/v1", True), "tokenizer": ("a/b", True), "api_key_env": ("KEY", False),
    "concurrency": (1, False), "requests_per_minute": (3, False), "max_retries": (1, False),
    "request_seconds": (9.0, False), "entropy": (True, False),
    "max_tokens_name": ("max_completion_tokens", True), "extra_body": ({"effort": "low"}, True),
}  # fmt: skip
FILE = ("path", "baseline", "single_passages", "retriever", "k")
"""Of answers from files: tests/unit/generation/test_file_engine.py."""


def test_every_key_of_a_generator_is_one_or_the_other() -> None:
    """A key added to the schema must be put on one side here, and in the fingerprint if it decides an answer."""
    from ragrelay.config.schema import load_schema

    keys = set(load_schema()["properties"]["generators"]["additionalProperties"]["properties"])
    assert keys == {*CHANGES, *NO_CHANGES, *ENDPOINT, *FILE, "engine", "model", "revision", "adapter_revision"}
    assert not set(CHANGES) & set(NO_CHANGES)


@pytest.mark.parametrize("key", CHANGES)
def test_changes_with(generator: dict[str, Any], key: str) -> None:
    assert fingerprint({**generator, key: CHANGES[key]}) != fingerprint(generator)


@pytest.mark.parametrize("key", NO_CHANGES)
def test_does_not_change_with(generator: dict[str, Any], key: str) -> None:
    assert fingerprint({**generator, key: NO_CHANGES[key]}) == fingerprint(generator)


def test_key_order_does_not_matter(generator: dict[str, Any]) -> None:
    assert fingerprint(dict(reversed(generator.items()))) == fingerprint(generator)


def test_all_changes_differ_from_each_other(generator: dict[str, Any]) -> None:
    found = {fingerprint({**generator, key: value}) for key, value in CHANGES.items()}
    assert len(found) == len(CHANGES) and all(len(name) == 16 for name in found)


def test_weights_and_tokenizer_count_and_the_folders_place_does_not(generator: dict[str, Any], tmp_path: Path) -> None:
    before = fingerprint(generator)
    folder = tmp_path / "moved" / "model"
    shutil.copytree(generator["model"], folder)
    assert fingerprint({**generator, "model": str(folder)}) == before
    assert fingerprint({**generator, "model": "moved/model"}, folder=tmp_path) == before
    assert fingerprint({**generator, "model": str(folder)}, cache_dir=tmp_path / "cache") == before
    for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json", "config.json"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content + b" ")
        assert fingerprint({**generator, "model": str(folder)}) != before, name
        (folder / name).write_bytes(content)
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert fingerprint({**generator, "model": str(folder)}) != before


def test_hub_models_by_id_and_revision(generator: dict[str, Any]) -> None:
    one = fingerprint({**generator, "model": "a/b"})
    assert one == fingerprint({**generator, "model": "a/b", "revision": "main"})
    assert (
        len(
            {
                one,
                fingerprint({**generator, "model": "a/c"}),
                fingerprint({**generator, "model": "a/b", "revision": "v2"}),
            }
        )
        == 3
    )


def test_adapters_by_their_files_or_id_and_revision(generator: dict[str, Any], tmp_path: Path) -> None:
    hub = {**generator, "adapter": "a/lora"}
    assert fingerprint({**hub, "adapter_revision": "v2"}) != fingerprint(hub)
    folder = tmp_path / "lora"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    local = {**generator, "adapter": str(folder)}
    before = fingerprint(local)
    (folder / "adapter_model.safetensors").write_bytes(b"x")
    assert fingerprint(local) != before


def test_keys_that_came_later_keep_earlier_answers(generator: dict[str, Any]) -> None:
    """The hash is the very one that the definition had before these keys were there."""
    later = ("engine", "chat", "chat_template_kwargs", *PENALTIES, "batch_invariant")
    earlier = {key: value for key, value in generator.items() if key not in later} | {"engine": "vllm"}
    assert fingerprint(generator) == fingerprint(earlier)


@pytest.mark.parametrize("key", ENDPOINT)
def test_endpoints(generator: dict[str, Any], key: str) -> None:
    served = {**generator, "engine": "openai", "model": "served", "base_url": "https://host/v1"}
    value, decides = ENDPOINT[key]
    assert (fingerprint({**served, key: value}) != fingerprint(served)) == decides
    assert fingerprint({**served, "dtype": "bfloat16", "quantization": "fp8"}) == fingerprint(served)
    assert fingerprint({**served, "min_tokens": 3}) != fingerprint(served)
    changed = ({"model": "other"}, {"revision": "v2"}, {"temperature": 0.9}, {"chat": True}, {"engine": "vllm"})
    assert len({fingerprint(served), *(fingerprint({**served, **one}) for one in changed)}) == 6


@pytest.mark.parametrize("tokenizer", [False, True])
def test_an_endpoint_that_gets_the_same_request_keeps_its_answers(generator: dict[str, Any], tokenizer: bool) -> None:
    """Its hash is the one from before values without effect were sent: null leaves them out, and others count."""
    keys = {"tokenizer": "a/b", "max_model_len": 512} if tokenizer else {}
    served = {**generator, "engine": "openai", "model": "served", "base_url": "https://host/v1", **keys}
    before = {"endpoint": "https://host/v1", "model": "served@", **{key: generator[key] for key in DECODING}}
    if tokenizer:
        before |= {"tokenizer": model_identity("a/b", None), "max_model_len": 512}
        before |= {"over_window": "error", "trust_remote_code": False}
    assert fingerprint(served) != value_hash(before), "what was left out is sent"
    left_out: dict[str, Any] = {key: None for key in NEUTRAL if key != "top_k"}
    assert fingerprint({**served, **left_out}) == value_hash(before)
    assert fingerprint({**served, **left_out, "top_k": None}) == value_hash({**before, "top_k": 0})
    effective = {"min_p": 0.1, "repetition_penalty": 1.1, "presence_penalty": 0.1, "frequency_penalty": 0.1,
                 "min_tokens": 3}  # fmt: skip
    assert fingerprint({**served, **effective}) == value_hash({**before, **effective})


def test_null_is_another_request(generator: dict[str, Any]) -> None:
    served = {**generator, "engine": "openai", "model": "served", "top_k": 0}
    nulls = [{**served, key: None} for key in (*NEUTRAL, "temperature", "top_p")]
    assert len({fingerprint(definition) for definition in (served, *nulls)}) == len(nulls) + 1
