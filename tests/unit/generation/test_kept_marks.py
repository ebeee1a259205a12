"""Marks of thought that are special tokens: kept in the text that a real vLLM gives, alone among special tokens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.models import hubs
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.generator import Request
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.generation.requests import tokenised
from ragrelay.generation.thought_marks import FAMILIES, keeps_special_tokens, without_thinking
from ragrelay.generation.tokens import load_tokenizer
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


def test_marks_are_kept_and_other_special_tokens_are_not(engine: VllmEngine) -> None:
    found = row(engine)
    assert (found["answer"], found["finish_reason"]) == ("[THINK]a<note>b[/THINK]cd", "stop")
    assert found["answer_tokens"] == len(found["token_logprobs"]) == len(SAID)
    assert without_thinking(pl.DataFrame([found]), MARKS)["answer"].item() == "cd"


def test_without_such_marks_the_text_is_as_before(engine: VllmEngine) -> None:
    """Marks that are text change nothing either: the store's answers from before serve."""
    text = "a<note>bcd"
    for thinking in ("none", ["<note>", "</note>"]):
        assert row(engine, thinking=thinking)["answer"] == text
    assert row(engine, thinking="none") == {**row(engine), "answer": text}


def test_a_thought_that_did_not_end(engine: VllmEngine) -> None:
    for keys in ({"max_tokens": 3}, {"stop": ["b"]}):
        found = row(engine, **keys)
        assert found["answer"] == "[THINK]a<note>"
        assert without_thinking(pl.DataFrame([found]), MARKS).row(0, named=True)["answer"] is None


def test_a_thought_that_the_prompt_begins_and_a_stop_string_ends(engine: VllmEngine) -> None:
    """The model doesn't write the start mark then, and a stop string ends the text as an answer's end does."""
    asked = pl.DataFrame(
        {"prompt_id": ["p"], "seed": [1], "qid": ["q"], "docnos": [["d"]], "prompt": ["?<note>"], "system": [""]}
    )
    marks = ["<note>", "c"]
    for stop, stored, answer in ((["b"], "<note>", None), ([], "<note>bcd", "d")):
        generator = {**engine.generator, "thinking": marks, "stop": stop, "over_window": "error"}
        [request] = tokenised(asked, generator, 512, Layout(Template(), Path(), {}))
        [found] = engine.asked_with(generator).answers(iter([request]))
        assert (found["answer"], found["finish_reason"]) == (stored, "stop")
        assert without_thinking(pl.DataFrame([found]), marks)["answer"].item() == answer


@pytest.mark.parametrize("family", FAMILIES, ids=[family.start for family in FAMILIES])
def test_a_hubs_marks_are_special_by_how_they_are_written(generator: dict[str, Any], family: Any) -> None:
    """vLLM's parsers need special tokens in the texts for these marks; the others keep their answers."""
    hub = {**generator, "model": "a/b"}
    thinks = {**hub, "thinking": list(family[:2])}
    special = any(character in family.end for character in "|[") and "ifm" not in family.end
    assert keeps_special_tokens(thinks) == special
    assert (fingerprint(thinks) != fingerprint(hub)) == special
    assert likelihood_fingerprint(thinks) == likelihood_fingerprint(hub)
    assert fingerprint({**hub, "thinking": "none"}) == fingerprint(hub)


@pytest.mark.parametrize("special", [True, False])
def test_a_local_tokenizer_says_which_are_special(generator: dict[str, Any], tmp_path: Path, special: bool) -> None:
    model = add_tokens(build_chat_model(tmp_path / "model"), {"<think>": special, "</think>": special})
    local = {**generator, "model": str(model)}
    thinks = {**local, "thinking": ["<think>", "</think>"]}
    assert keeps_special_tokens(thinks) == special
    assert keeps_special_tokens({**thinks, "model": "./model"}, tmp_path) == special
    assert (fingerprint(thinks) != fingerprint(local)) == special


def test_special_marks_that_a_start_takes_for_text(
    generator: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub's tokenizer is at hand only where the job runs, which then ends in one line."""
    model = add_tokens(build_chat_model(tmp_path / "model"), {"<think>": True, "</think>": True})
    monkeypatch.setattr("ragrelay.generation.tokens.model_path", lambda _: str(model))
    monkeypatch.setattr(hubs, "offline", lambda: False)
    asked = {"prompt_id": ["p"], "seed": [1], "qid": ["q"], "docnos": [["d"]], "prompt": ["what"], "system": [""]}
    hub = {**generator, "model": "a/b", "thinking": ["<think>", "</think>"]}
    with pytest.raises(InputError) as error:
        list(tokenised(pl.DataFrame(asked), hub, 2000, Layout(Template(), Path(), {})))
    assert str(error.value) == (
        'generator of model \'a/b\': found marks ["<think>", "</think>"] of special tokens that are written as plain '
        "text; expected the model in a local folder, so that its special tokens are known at the start"
    )
