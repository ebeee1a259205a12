"""What labels cost against answers end to end, by number of passages."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.cost import cost_by_k
from ragrelay.generation.past_jobs import speed_of
from ragrelay.generation.store import AnswerStore


def row(prompt_id: str, prompt_tokens: int, cached_tokens: int = 0) -> dict[str, Any]:
    return {
        "prompt_id": prompt_id, "seed": 1, "answer": "tea", "finish_reason": "stop", "prompt_tokens": prompt_tokens,
        "cached_tokens": cached_tokens, "answer_tokens": 10, "logprob": -0.1, "dropped_passages": 0,
    }  # fmt: skip


def test_by_number_of_passages(tmp_path: Path) -> None:
    """Passages have 100 tokens: labels are linear in k, attention over whole contexts is quadratic."""
    store = AnswerStore(tmp_path, "fp")
    alone = [row(f"d{rank}", 90) for rank in (1, 2, 3, 4)]
    whole = [row(f"k{k}", 100 * k - 10, cached_tokens=10 if k == 4 else 0) for k in (2, 4)]
    store.append([*alone, *whole], {"engine": "fake", "version": "1", "device": "cpu", "seconds": "2.0"})
    singles = pl.DataFrame({"rank": [1, 2, 3, 4], "prompt_id": ["d1", "d2", "d3", "d4"], "seed": [1] * 4})
    # Two retrievers have the same context: one call.
    contexts = pl.DataFrame({"k": [2, 2, 4], "prompt_id": ["k2", "k2", "k4"], "seed": [1] * 3})
    two, four = cost_by_k(singles, contexts, store, speed_of(store)).to_dicts()
    assert (two["k"], two["label_calls"], two["answer_calls"]) == (2, 2, 1)
    assert (two["label_tokens"], two["answer_tokens"]) == (200, 200)
    assert (four["label_calls"], four["label_tokens"], four["answer_tokens"]) == (4, 400, 390)
    assert (two["attention_ratio"], four["attention_ratio"]) == (2.0, 4.0)
    assert four["label_seconds"] == pytest.approx(2 * two["label_seconds"], abs=0.02)


def test_without_times_or_answers(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "fp")
    store.append([row("d1", 90)], {"engine": "fake", "version": "1", "device": "cpu"})
    singles = pl.DataFrame({"rank": [1], "prompt_id": ["d1"], "seed": [1]})
    contexts = pl.DataFrame({"k": [2], "prompt_id": ["k2"], "seed": [1]})
    (found,) = cost_by_k(singles, contexts, store, speed_of(store)).to_dicts()
    assert (found["label_seconds"], found["attention_ratio"]) == (None, None)


def test_tokens_that_an_endpoint_did_not_count(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path, "fp")
    unknown = {"prompt_tokens": None, "cached_tokens": None, "answer_tokens": None}
    about = {"engine": "openai", "version": "1", "device": "endpoint", "seconds": "2.0"}
    store.append([row("d1", 90), row("k2", 1) | unknown], about)
    store.append([row("d2", 90)], about)
    singles = pl.DataFrame({"rank": [1, 2], "prompt_id": ["d1", "d2"], "seed": [1] * 2})
    contexts = pl.DataFrame({"k": [2], "prompt_id": ["k2"], "seed": [1]})
    speed = speed_of(store)
    assert speed and speed.seconds(90, 10) == pytest.approx(2.0, rel=0.01), "by the part whose tokens are all known"
    (found,) = cost_by_k(singles, contexts, store, speed).to_dicts()
    assert found["label_tokens"] == 200 and found["label_seconds"] is not None
    names = ("answer_tokens", "answer_seconds", "attention_ratio")
    assert [found[name] for name in names] == [None] * 3
