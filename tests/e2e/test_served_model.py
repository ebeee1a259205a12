"""A model behind vLLM's own API server: the same answers as from vLLM in the job, by the same store's rows."""

import dataclasses
import json
import logging
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation import endpoint_replies
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.generator import NEUTRAL, Request
from ragrelay.generation.store import TOKEN_SCORES
from ragrelay.generation.tokens import PromptTokenizer

from tests.support.chat_model import build_chat_model
from tests.support.served import kill_server, rows_of_engine, served
from tests.support.tiny_model import build_saying_llama

pytestmark = pytest.mark.full

KEY = "a-secret-of-this-test"
PROMPT = (
    "You are an expert at answering questions based on your own knowledge and related context. Please answer this "
    "question based on the given context. End your answer with STOP. \n"
    'Context 1: "{}";\nQuestion: "{}"\nNow start your answer. \nAnswer: '
)
TEXTS = [
    PROMPT.format("tea is a drink made of the leaves of a plant that grows on hills.", "what is tea"),
    PROMPT.format("the heart is a muscle that pumps blood through the body.", "what does the heart do"),
    PROMPT.format("</s> ends a text and <s> begins one in many models.", "what ends a text"),
]
DECODING = {
    "temperature": 0.3, "top_k": 50, "top_p": 1.0, "min_p": 0.0, "max_tokens": 40, "stop": ["STOP"], "min_tokens": 2,
    "repetition_penalty": 1.1, "presence_penalty": 0.2, "frequency_penalty": 0.1,
}  # fmt: skip
VALUES = ("answer", "finish_reason", "prompt_tokens", "answer_tokens", "logprob")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a model with defaults of its own, as many have: the server uses them where a request is silent."""
    folder = build_chat_model(tmp_path_factory.mktemp("served") / "model")
    own = {"do_sample": True, "temperature": 0.7, "top_k": 1, "top_p": 0.5, "min_p": 0.5, "repetition_penalty": 1.5}
    (folder / "generation_config.json").write_text(json.dumps(own))
    return folder


@pytest.fixture(scope="module")
def endpoint(model: Path) -> Iterator[dict[str, Any]]:
    """A generator's definition whose endpoint is up."""
    with served(model, "demo", model.parent / "server.log", KEY) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_KEY", KEY)
        yield {
            "engine": "openai", "model": "demo", "base_url": address, "api_key_env": "THE_KEY", "concurrency": 4,
            "max_retries": 2, "request_seconds": 300.0, "chat": False,
            "chat_template_kwargs": {}, "entropy": False, **DECODING,
        }  # fmt: skip


def requests(model: Path, chat: bool, as_ids: bool, system: str = "") -> list[Request]:
    tokenizer = PromptTokenizer({"model": str(model), "trust_remote_code": False, "chat": chat})
    made = []
    for place, text in enumerate(TEXTS):
        ids = tokenizer(text, system) if as_ids else ()
        parts = ("", "") if as_ids else (text, system)
        made += [Request(f"p{place}", seed, ids, 0, *parts) for seed in (1, 2)]
    return made


def values(rows: dict[tuple[str, int], dict[str, Any]]) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {key: tuple(row[name] for name in VALUES) for key, row in rows.items()}


def asked(definition: dict[str, Any], some: list[Request]) -> dict[tuple[str, int], tuple[Any, ...]]:
    rows = EndpointEngine(definition).answers(iter(some))
    return values({(row["prompt_id"], row["seed"]): row for row in rows})


def without_literals(rows: dict[tuple[str, int], tuple[Any, ...]]) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {key: row for key, row in rows.items() if key[0] != "p2"}


@pytest.mark.parametrize("more", [{}, {"temperature": 1.0, **NEUTRAL}], ids=["decoding", "nothing"])
def test_token_ids_give_the_answers_of_vllm_in_the_job(
    model: Path, endpoint: dict[str, Any], more: dict[str, Any]
) -> None:
    some = requests(model, chat=False, as_ids=True)
    definition = {
        "model": str(model), "dtype": "float32", "max_num_seqs": 8, "prefix_caching": True, "trust_remote_code": False,
        "tensor_parallel_size": 1, "gpu_memory_utilization": 0.5, "cpu_kvcache_gib": 1, "load_format": "auto",
        "batch_invariant": False, **DECODING, **more,
    }  # fmt: skip
    endpoint = {**endpoint, **more}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = pool.submit(rows_of_engine, definition, some).result()
    expected, found = values(rows), asked(endpoint, some)
    assert found.keys() == expected.keys() and len(found) == 6
    for key, (*texts, logprob) in expected.items():
        assert list(found[key][:-1]) == texts
        assert found[key][-1] == pytest.approx(logprob, abs=1e-3)
    assert any(row[0] for row in found.values())
    for row in EndpointEngine({**endpoint, "entropy": True}).answers(iter(some)):
        for name in TOKEN_SCORES:
            assert row[name] == pytest.approx(rows[row["prompt_id"], row["seed"]][name], abs=1e-3)


@pytest.fixture
def phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo's tokenizer has tokens of whole phrases: its prompts have fewer tokens than words."""
    monkeypatch.setattr(endpoint_replies, "READ_SHARE", 0.4)


def test_a_text_of_fewer_tokens_than_words_is_refused_with_the_way_out(model: Path, endpoint: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"29 tokens read .*, which has 55 words; expected .*, key tokenizer, so that"):
        asked(endpoint, requests(model, chat=False, as_ids=False))


@pytest.mark.usefixtures("phrases")
def test_texts_are_the_same_but_for_special_tokens_in_passages(model: Path, endpoint: dict[str, Any]) -> None:
    ids, texts = (asked(endpoint, requests(model, chat=False, as_ids=as_ids)) for as_ids in (True, False))
    assert without_literals(texts) == without_literals(ids)
    assert texts["p2", 1][2] < ids["p2", 1][2], "the server reads </s> and <s> as single tokens; we do not"


@pytest.mark.usefixtures("phrases")
def test_chat_completions_are_the_chat_template(model: Path, endpoint: dict[str, Any]) -> None:
    chat = {**endpoint, "chat": True}
    system = "answer in one sentence"
    ids, texts = (asked(chat, requests(model, True, as_ids, system)) for as_ids in (True, False))
    for key, row in without_literals(texts).items():
        assert row[:4] == ids[key][:4]
        assert row[4] == pytest.approx(ids[key][4], abs=1e-3)


def test_thoughts_and_answers_are_those_of_vllm_in_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over token ids; as texts too, where the marks are no special tokens. A budget cuts, and the answer follows."""
    monkeypatch.setenv("THE_KEY", KEY)
    said = ["?", "<think>", "a", "b", "</think>", "c", "<|turn|>", "d", "</s>"]
    added = {"<think>": False, "</think>": False, "<|turn|>": True}
    folder = build_saying_llama(tmp_path / "model", said, added)
    job = {
        "model": str(folder), "dtype": "float32", "max_num_seqs": 8, "prefix_caching": True, "trust_remote_code": False,
        "tensor_parallel_size": 1, "gpu_memory_utilization": 0.5, "cpu_kvcache_gib": 1, "load_format": "auto",
        "batch_invariant": False, **DECODING, **NEUTRAL, "stop": ["d", "a"], "max_tokens": 9,
    }  # fmt: skip
    ids = PromptTokenizer(job)("?")
    names = (*VALUES[:-1], "thought", "thought_tokens", "thought_end")
    asked_ids, asked_text = [Request("p", 1, ids)], [Request("p", 1, (), 0, "?")]
    expected = [("<think>ab</think>", 4, "mark"), ("<think>a</think>", 2, "budget")]
    with served(folder, "demo", tmp_path / "server.log", KEY, 512) as address:
        endpoint = {
            "engine": "openai", "model": "demo", "base_url": address, "api_key_env": "THE_KEY", "concurrency": 4,
            "max_retries": 2, "request_seconds": 300.0, "chat": False,
            "chat_template_kwargs": {}, "entropy": False, **{key: job[key] for key in DECODING},
        }  # fmt: skip
        for budget, thought in zip((99, 2), expected, strict=True):
            thinking = {"thinking": {"marks": ["<think>", "</think>"], "budget": budget}}
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                row = pool.submit(rows_of_engine, {**job, **thinking}, asked_ids, 512).result()["p", 1]
            in_job = tuple(row[name] for name in names)
            assert in_job == ("c", "stop", len(ids), thought[1] + 3, *thought)
            with_ids = {"tokenizer": str(folder), "trust_remote_code": False}
            for more, request in ((with_ids, asked_ids), ({}, asked_text)):
                [found] = EndpointEngine({**endpoint, **thinking, **more}).answers(iter(request))
                assert tuple(found[name] for name in names) == in_job
                assert found["logprob"] == pytest.approx(row["logprob"], abs=1e-3)


def test_two_servers_of_which_one_is_killed(model: Path, endpoint: dict[str, Any], tmp_path: Path) -> None:
    """Each answer is made, once, and is what one server gives."""
    made = requests(model, chat=False, as_ids=True)
    some = [dataclasses.replace(each, seed=seed) for seed in range(1, 25) for each in made if each.seed == 1]
    expected = asked(endpoint, some)
    log, killed = tmp_path / "other.log", False
    with served(model, "demo", log, KEY) as address:
        several = {**endpoint, "base_url": [endpoint["base_url"], address]}
        found = []
        for row in EndpointEngine(several).answers(iter(some)):
            found.append(row)
            if not killed and '"POST /v1/completions HTTP/1.1" 200' in log.read_text():
                killed = kill_server(address)
    assert killed and len(found) == len(some)
    assert values({(row["prompt_id"], row["seed"]): row for row in found}) == expected


def test_seeds_differ_and_repeat(model: Path, endpoint: dict[str, Any]) -> None:
    hot = {**endpoint, "temperature": 2.0, "top_k": 0, "stop": []}
    one, again = (asked(hot, requests(model, chat=False, as_ids=True)) for _ in range(2))
    assert one == again
    assert one["p0", 1] != one["p0", 2]


def test_refusals_are_told_in_one_line_without_the_key(
    model: Path, endpoint: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = requests(model, chat=False, as_ids=True)
    with caplog.at_level(logging.DEBUG, logger="ragrelay"), pytest.raises(InputError) as error:
        asked({**endpoint, "model": "absent"}, some)
    assert "'absent'" in str(error.value) and "NotFoundError" in str(error.value) and "\n" not in str(error.value)
    monkeypatch.setenv("OTHER", "wrong-secret")
    with pytest.raises(InputError, match="AuthenticationError") as refused:
        asked({**endpoint, "api_key_env": "OTHER"}, some)
    assert "wrong-secret" not in str(refused.value) + caplog.text and KEY not in caplog.text
