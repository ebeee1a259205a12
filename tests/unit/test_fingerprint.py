"""The fingerprint: changes with whatever decides an answer, and with nothing else."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from ragrelay.generation.fingerprint import fingerprint

CHANGES: dict[str, Any] = {
    "dtype": "bfloat16", "quantization": "fp8", "max_model_len": 1024, "over_window": "truncate", "temperature": 0.0,
    "top_k": 0, "top_p": 0.95, "min_p": 0.05, "max_tokens": 17, "stop": ["END"], "trust_remote_code": True,
}  # fmt: skip
NO_CHANGES: dict[str, Any] = {
    "prompt": "other", "prefix_caching": False, "max_num_seqs": 1, "max_num_batched_tokens": 64,
    "tensor_parallel_size": 2, "gpu_memory_utilization": 0.5, "cpu_kvcache_gib": 4, "threads": 2,
    "flush_seconds": 1,
}  # fmt: skip


def test_every_key_of_a_generator_is_one_or_the_other() -> None:
    """A key added to the schema must be put on one side here, and in the fingerprint if it decides an answer."""
    from ragrelay.config.schema import load_schema

    keys = set(load_schema()["$defs"]["generator"]["properties"])
    assert keys == {*CHANGES, *NO_CHANGES, "model", "revision"}
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
