"""Thoughts and answers of an endpoint, against a fake server: two requests, and what servers say of an end."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.generator import Request

from tests.support.chat_model import add_tokens, build_chat_model
from tests.support.fake_endpoint import DEFINITION, FakeServer

pytestmark = pytest.mark.process

MARKS = ["<think>", "</think>"]
JSON = {"Content-Type": "application/json"}
TOLD = ("thought", "thought_tokens", "thought_end", "answer", "finish_reason", "answer_tokens")


def reply(text: str, tokens: int | None = 2, ended: str = "stop", read: int = 9, **choice: Any) -> Any:
    """A reply to a completion with as many ``tokens``."""
    usage = None if tokens is None else {"prompt_tokens": read, "completion_tokens": tokens}
    whole = {"choices": [{"index": 0, "text": text, "finish_reason": ended, **choice}], "usage": usage}
    return 200, JSON, json.dumps(whole).encode()


def told(definition: Mapping[str, Any], request: Request) -> tuple[Any, ...]:
    [row] = EndpointEngine(definition).answers(iter([request]))
    return tuple(row[name] for name in TOLD)


TEXTS = {**DEFINITION, "thinking": {"marks": MARKS, "budget": 5}, "max_tokens": 7}


@pytest.mark.parametrize(
    ("first", "prompt", "expected"),
    [
        (reply("<think>a</think>", 4, stop_reason="</think>"), "why <think>a</think>", ("<think>a</think>", 4, "mark")),
        (reply("<think>a", 4, stop_reason="</think>"), "why <think>a</think>", ("<think>a</think>", 4, "mark")),
        (reply("<think>a", 4), "why <think>a</think>", ("<think>a</think>", 4, "mark")),
        (reply("<think>a b", 5, "length"), "why <think>a b</think>", ("<think>a b</think>", 5, "budget")),
        (reply("a b", 5, "length"), "why a b</think>", ("a b</think>", 5, "budget")),
        (reply("Hello.", 2, stop_reason=None), "why ", ("", 0, "none")),
        (reply("Hello.", 2), "why ", ("", 0, "none")),
        (reply("<think>a</think>", None), "why <think>a</think>", ("<think>a</think>", None, "mark")),
    ],
)
def test_what_servers_say(server: FakeServer, first: Any, prompt: str, expected: tuple[Any, ...]) -> None:
    """With the mark in the text, or left out of it and named, or left out in silence; at the budget; without one."""
    server.raw = [first, reply(" Tea. ", 2)]
    found = told(TEXTS, Request("p", 1, (), 0, "why "))
    tokens = None if expected[1] is None else expected[1] + 2
    assert found == (*expected, "Tea.", "stop", tokens)
    thought, answer = server.bodies
    assert (thought["prompt"], thought["max_tokens"], thought["stop"]) == ("why ", 5, ["</think>"])
    assert thought["include_stop_str_in_output"] is True and "logprobs" not in thought
    assert (answer["prompt"], answer["max_tokens"], answer["stop"]) == (prompt, 7, ["STOP"])
    assert (thought["seed"], answer["seed"]) == (1, 1) and "include_stop_str_in_output" not in answer


def test_a_text_that_ends_within_the_thought_asks_for_no_answer(server: FakeServer) -> None:
    server.raw = [reply("<think>a", 4, stop_reason=None)]
    found = told(TEXTS, Request("p", 1, (), 0, "why "))
    assert found == ("<think>a", 4, "unfinished", None, "thinking", 4) and len(server.bodies) == 1


@pytest.fixture
def definition(tmp_path: Path) -> dict[str, Any]:
    model = add_tokens(build_chat_model(tmp_path / "model"), {"<think>": True, "</think>": True})
    return {**TEXTS, "tokenizer": str(model), "trust_remote_code": False}


@pytest.mark.parametrize("ids", [[7, 8, 9], None])
def test_token_ids_go_on_from_those_of_the_thought(
    server: FakeServer, definition: dict[str, Any], ids: list[int] | None
) -> None:
    """The server's own, or else those of the text, in which marks are special tokens."""
    from transformers import AutoTokenizer

    server.raw = [reply("tea</think>", 4, token_ids=ids, stop_reason="</think>"), reply("Tea.", 2, read=99)]
    found = told(definition, Request("p", 1, (1, 2), begun="<think>"))
    assert found == ("<think>tea</think>", 4, "mark", "Tea.", "stop", 6)
    thought, answer = server.bodies
    assert thought["return_token_ids"] is True and "return_token_ids" not in answer
    assert thought["skip_special_tokens"] is answer["skip_special_tokens"] is False
    of_text = AutoTokenizer.from_pretrained(definition["tokenizer"])("tea</think>", add_special_tokens=False)[
        "input_ids"
    ]
    assert answer["prompt"] == [1, 2, *(ids or of_text)]


@pytest.mark.parametrize("ids", [True, False])
def test_what_a_server_says_after_the_mark(server: FakeServer, definition: dict[str, Any], ids: bool) -> None:
    """Its token ids are gone on from, with what the last has after the mark; its text only up to the mark."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(definition["tokenizer"])
    text = "tea</think>the heart"
    of_text = tokenizer(text, add_special_tokens=False)["input_ids"] if ids else None
    answer = " pumps blood" if ids else "the heart pumps blood"
    server.raw = [reply(text, 4, token_ids=of_text, stop_reason="</think>"), reply(answer, 2, read=99)]
    found = told(definition, Request("p", 1, (1, 2), begun="<think>"))
    assert found[:4] == ("<think>tea</think>", 4, "mark", "the heart pumps blood")
    until_mark = tokenizer("tea</think>", add_special_tokens=False)["input_ids"]
    assert server.bodies[1]["prompt"] == [1, 2, *(of_text or until_mark)]


def test_a_budget_that_a_server_does_not_keep(server: FakeServer, definition: dict[str, Any]) -> None:
    request = Request("p", 1, (1, 2))
    for tokens, ended in ((6, "stop"), (4, "length")):
        server.raw = [reply("<think>a", tokens, ended)]
        with pytest.raises(
            InputError, match=f"a thought of {tokens} tokens .*; expected a thought that ends .* after 5 "
        ):
            told(definition, request)
    server.raw = [reply("<think>a", 3, read=1)]
    with pytest.raises(InputError, match=r"1 tokens read .* from prompt p, which has 2 tokens"):
        told(definition, request)


def test_a_key_of_thoughts_that_a_server_refuses(server: FakeServer, definition: dict[str, Any]) -> None:
    server.refused = ("return_token_ids",)
    with pytest.raises(InputError, match=r"'return_token_ids' is not supported.*; if it refuses a key of the request"):
        told(definition, Request("p", 1, (1, 2)))
    server.raw = [reply("<think>a</think>", 4), reply("Tea.", 2)]
    found = told({**definition, "extra_body": {"return_token_ids": None}}, Request("p", 1, (1, 2)))
    assert found[3] == "Tea."
    server.refused = ("logprobs",)  # of the answer alone
    server.raw = [reply("<think>a</think>", 4)]
    with pytest.raises(InputError, match="'logprobs' is not supported"):
        told(TEXTS, Request("p", 1, (), 0, "why "))


def test_a_chat_has_one_limit(server: FakeServer) -> None:
    """The reply is kept whole; without_thinking tells the thought from it."""
    chat = {**TEXTS, "chat": True, "thinking": MARKS}
    server.text = {"why": "<think>a</think>Tea."}
    [row] = EndpointEngine(chat).answers(iter([Request("p", 1, (), 0, "why")]))
    assert row["answer"] == "<think>a</think>Tea." and "thought" not in row
    assert [(body["max_tokens"], body["stop"]) for body in server.bodies] == [(7, ["STOP"])]


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_a_thought_that_a_chat_tells_from_its_answer(server: FakeServer, key: str) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 8, "completion_tokens_details": {"reasoning_tokens": 5}}
    for content, expected in (("Tea.", ("a leaf?", 5, "mark", "Tea.", "stop", 8)),
                              (None, ("a leaf?", 5, "unfinished", None, "thinking", 8))):  # fmt: skip
        choice = {"index": 0, "message": {"content": content, key: "a leaf?"}, "finish_reason": "stop"}
        server.raw = [(200, JSON, json.dumps({"choices": [choice], "usage": usage}).encode())]
        assert told({**DEFINITION, "chat": True}, Request("p", 1, (), 0, "why")) == expected
