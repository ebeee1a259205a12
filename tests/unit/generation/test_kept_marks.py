"""A real vLLM's thoughts and answers: two requests, so that limits and stop strings of answers count after the mark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import Request
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.generation.requests import tokenised
from ragrelay.generation.thought_marks import BUDGET, thought_marks
from ragrelay.generation.tokens import load_tokenizer, thought_tokens
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

from tests.support.chat_model import add_tokens, build_chat_model
from tests.support.tiny_model import build_saying_llama

pytestmark = pytest.mark.engine

ADDED = {"[THINK]": True, "[/THINK]": True, "<|turn|>": True, "<note>": False}
SAID = ["[THINK]", "a", "<note>", "b", "[/THINK]", "c", "<|turn|>", "d", "</s>"]
"""What the model answers to a question mark."""
MARKS = ["[THINK]", "[/THINK]"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmEngine]:
    model = build_saying_llama(tmp_path_factory.mktemp("saying") / "model", ["?", *SAID], ADDED)
    yield VllmEngine(
        {
            "engine": "vllm", "model": str(model), "dtype": "float32", "temperature": 0.0, "top_k": 0, "top_p": 1.0,
            "min_p": 0.0, "max_tokens": 20, "stop": [], "prefix_caching": True, "max_num_seqs": 4,
            "tensor_parallel_size": 1, "gpu_memory_utilization": 0.9, "cpu_kvcache_gib": 1, "trust_remote_code": False,
            "load_format": "auto", "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
            "min_tokens": 0, "batch_invariant": False, "thinking": MARKS,
        },
        512,
        threads=1,
    )  # fmt: skip


def row(engine: VllmEngine, **keys: Any) -> dict[str, Any]:
    """The store's row of the model's answer."""
    ids = tuple(load_tokenizer(engine.generator)("?")["input_ids"])
    asked = engine.asked_with({**engine.generator, **keys}) if keys else engine
    [found] = asked.answers(iter([Request("p", 1, ids)]))
    return found


def test_nothing_is_compiled_with_the_first_answer(engine: VllmEngine) -> None:
    """It was at the engine's start, whose seconds are not those of answers."""
    from torch._dynamo.utils import counters

    compiled = dict(counters["stats"])
    row(engine)
    ids = tuple(load_tokenizer(engine.generator)("?")["input_ids"])
    assert len(list(engine.answers(Request(str(number), 1, ids) for number in range(3)))) == 3
    assert compiled["unique_graphs"] and counters["stats"] == compiled


THOUGHT = "[THINK]a<note>b[/THINK]"


def told(found: dict[str, Any]) -> tuple[Any, ...]:
    names = ("thought", "thought_tokens", "thought_end", "answer", "finish_reason", "answer_tokens")
    return tuple(found[name] for name in names)


def test_a_thought_is_told_from_its_answer(engine: VllmEngine) -> None:
    """Marks are kept, other special tokens are not; scores are those of the answer's tokens."""
    found = row(engine)
    assert told(found) == (THOUGHT, 5, "mark", "cd", "stop", len(SAID))
    assert len(found["token_logprobs"]) == 4
    assert found["logprob"] == pytest.approx(sum(found["token_logprobs"]))
    assert found["prompt_tokens"] == 2
    alone = row(engine, thinking="none")
    assert found["token_logprobs"] == pytest.approx(alone["token_logprobs"][5:], abs=1e-6)


@pytest.mark.parametrize("keys", [{"thinking": "none"}, {}])
def test_without_marks_the_text_is_whole(engine: VllmEngine, keys: dict[str, Any]) -> None:
    plain = {name: value for name, value in engine.generator.items() if name != "thinking"}
    ids = tuple(load_tokenizer(engine.generator)("?")["input_ids"])
    [found] = engine.asked_with({**plain, **keys}).answers(iter([Request("p", 1, ids)]))
    assert found["answer"] == "a<note>bcd" and "thought" not in found


@pytest.mark.parametrize("keys", [{"max_tokens": 1}, {"stop": ["d"]}, {"stop": ["d", "b", "note"], "max_tokens": 2}])
def test_limit_and_stop_strings_count_after_the_thought(engine: VllmEngine, keys: dict[str, Any]) -> None:
    found = row(engine, **keys)
    ended = "length" if "max_tokens" in keys else "stop"
    assert told(found)[:5] == (THOUGHT, 5, "mark", "c", ended)


def test_a_thought_that_its_budget_cuts_gets_its_end_mark(engine: VllmEngine) -> None:
    found = row(engine, thinking={"marks": MARKS, "budget": 3})
    assert told(found) == ("[THINK]a<note>[/THINK]", 3, "budget", "cd", "stop", 7)
    assert row(engine, thinking={"marks": "auto", "budget": 5}) == row(engine)


def test_a_thought_within_which_the_text_ends_is_no_answer(engine: VllmEngine) -> None:
    found = row(engine, thinking=["[THINK]", "<|never|>"])
    assert told(found) == ("[THINK]a<note>bcd", 9, "unfinished", None, "thinking", 9)
    assert found["logprob"] is None and found["token_logprobs"] is None


def test_a_text_without_a_thought_is_an_answer(engine: VllmEngine) -> None:
    found = row(engine, thinking=["<other>", "</other>"], max_tokens=4)
    assert told(found) == ("", 0, "none", "a<note>b", "length", 4)


@pytest.mark.parametrize(("stop", "answer"), [(["b"], "d"), (["d"], ""), ([], "d")])
def test_a_thought_that_the_prompt_begins(engine: VllmEngine, stop: list[str], answer: str) -> None:
    """The model doesn't write the start mark then."""
    asked = pl.DataFrame(
        {"prompt_id": ["p"], "seed": [1], "qid": ["q"], "docnos": [["d"]], "prompt": ["?<note>"], "system": [""]}
    )
    thinking = {"marks": ["<note>", "c"], "budget": 99}
    generator = {**engine.generator, "thinking": thinking, "stop": stop, "over_window": "error"}
    [request] = tokenised(asked, generator, 512, Layout(Template(), Path(), {}))
    [found] = engine.asked_with(generator).answers(iter([request]))
    assert told(found)[:5] == ("<note>bc", 3, "mark", answer, "stop")


def test_answers_side_by_side_and_more_than_the_engine_takes(engine: VllmEngine) -> None:
    ids = tuple(load_tokenizer(engine.generator)("?")["input_ids"])
    found = list(engine.answers(Request(f"p{n}", seed, ids) for n in range(12) for seed in (1, 2)))
    assert {(each["prompt_id"], each["seed"]) for each in found} == {(f"p{n}", s) for n in range(12) for s in (1, 2)}
    assert {told(each) for each in found} == {told(row(engine))} and len(found) == 24


def test_a_generator_that_thinks_has_a_fingerprint_of_its_own(generator: dict[str, Any]) -> None:
    """Marks and budget count where thoughts are requests of their own: not at a chat endpoint without a tokenizer."""
    marks = ["<think>", "</think>"]
    values: list[Any] = [marks, {"marks": marks, "budget": 9}, {"marks": "auto"}, ["<a>", "</a>"]]
    served = {**generator, "model": "a/b", "engine": "openai", "base_url": "https://host/v1"}
    tokens, chats = {**served, "tokenizer": "a/b"}, {**served, "chat": True}
    for plain in ({**generator, "model": "a/b"}, served, tokens, {**tokens, "chat": True}):
        prints = [fingerprint({**plain, "thinking": value}) for value in values]
        assert len({fingerprint(plain), *prints}) == 1 + len(values)
        assert fingerprint({**plain, "thinking": "none"}) == fingerprint(plain)
        assert fingerprint({**plain, "thinking": {"marks": marks, "budget": BUDGET}}) == prints[0]
    assert {fingerprint({**chats, "thinking": value}) for value in values} == {fingerprint(chats)}
    hub = {**generator, "model": "a/b"}
    assert likelihood_fingerprint({**hub, "thinking": marks}) == likelihood_fingerprint(hub)


def test_marks_of_a_local_tokenizer_by_themselves(generator: dict[str, Any], tmp_path: Path) -> None:
    """Auto and the marks in words are one fingerprint, and the special tokens among them are kept."""
    model = add_tokens(build_chat_model(tmp_path / "model"), {"<think>": True, "</think>": True})
    auto = {**generator, "model": str(model), "thinking": {"marks": "auto"}}
    named = {**auto, "thinking": ["<think>", "</think>"]}
    assert thought_marks(auto) == thought_marks({**auto, "model": "./model"}, tmp_path) == named["thinking"]
    assert fingerprint(auto) == fingerprint(named)
    assert thought_marks({**auto, "model": "a/b"}) == []
    read = thought_tokens(auto)
    assert read and read.marks == named["thinking"] and read.hidden and len(read.end) == 1
    other = thought_tokens({**auto, "thinking": ["what", "is"]})
    assert other and other.hidden is None
    plain = build_chat_model(tmp_path / "plain")
    with pytest.raises(InputError, match="auto, although the tokenizer has no thought marks; expected explicit marks"):
        thought_marks({**auto, "model": str(plain)})
