"""Prompts that an endpoint refuses, in the words of many servers: missing answers, unless all are refused."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation import job
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.endpoint_replies import FILTERED, REFUSED, TOO_LONG
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore

from tests.support.fake_endpoint import DEFINITION, REQUESTS, FakeServer, asked_of
from tests.unit.generation.test_requests import Prompts

pytestmark = pytest.mark.process


def openai_error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


REFUSALS = {
    "OpenAI": (400, openai_error("This model's maximum context length is 4097 tokens. However, your messages resulted "
                                 "in 5000 tokens.", "context_length_exceeded", "messages"), TOO_LONG),
    "vLLM's completions": (400, {"message": "The decoder prompt (length 700) is longer than the maximum model length "
                                 "of 512. Make sure that `max_model_len` is no smaller"}, TOO_LONG),
    "TGI": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 512. Given: 600",
                  "error_type": "validation"}, TOO_LONG),
    "Anthropic": (400, {"type": "error", "error": {"type": "invalid_request_error",
                        "message": "prompt is too long: 210000 tokens > 200000 maximum"}}, TOO_LONG),
    "Gemini": (400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1048577) "
                      "exceeds the maximum number of tokens allowed (1048576)."}}], TOO_LONG),
    "a proxy": (413, "<html><h1>413 Request Entity Too Large</h1></html>", TOO_LONG),
    "Azure": (400, openai_error("The response was filtered due to the prompt triggering Azure OpenAI's content "
                                "management policy. Please modify your prompt.", "content_filter", "prompt"), FILTERED),
    "OpenRouter": (403, {"error": {"code": 403, "message": "requires moderation. Your input was flagged for 'hate'. "
                                   "No credits were charged."}}, FILTERED),
    "DeepSeek": (400, openai_error("Content Exists Risk"), FILTERED),
    "Gemini's filter": (200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "choices": []}, FILTERED),
}  # fmt: skip
OTHERS = {
    "no credit": (400, openai_error("Your credit balance is too low to access the API."), "credit balance"),
    "an account": (403, openai_error("Your account was suspended for violating our usage policies"), "api_key_env"),
}


class Refusing(FakeServer):
    """Refuses the prompts that contain ``word``."""

    def __init__(self, word: str, status: int, body: Any) -> None:
        super().__init__()
        self.word, self.reply = word, (status, {}, (body if isinstance(body, str) else json.dumps(body)).encode())

    def reply_to(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes] | None:
        return self.reply if self.word in asked_of(body) else None


class Asked:
    """A job over six queries, of which the third is about granite and the longest."""

    def __init__(self, folder: Path) -> None:
        topics = {f"q{number}": f"tea {number}" for number in range(6)}
        self.prompts = Prompts(folder, {**topics, "q3": "granite, which is the longest of these queries"})
        self.keys = asked_keys({"bm25": self.prompts.files}, [1])
        self.store = AnswerStore(folder, "f")

    def run(self, address: str, **keys: Any) -> dict[str, Any]:
        def start(definition: Mapping[str, Any], _: int | None) -> EndpointEngine:
            return EndpointEngine(definition)

        definition = {**DEFINITION, "flush_seconds": 0.0, "base_url": address, "max_retries": 0, **keys}
        return generate_answers(self.keys, self.store, definition, self.prompts.layout, start)

    def answers(self) -> pl.DataFrame:
        return self.store.answers(self.keys.select("prompt_id", "seed"), None)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


@pytest.mark.parametrize(("status", "body", "reason"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("chat", [False, True])
def test_a_refused_prompt_is_a_missing_answer(asked: Asked, status: int, body: Any, reason: str, chat: bool) -> None:
    """Though it is the longest, which goes first and alone. A job that runs again asks for it alone."""
    server = Refusing("granite", status, body)
    receipt = asked.run(server.address, chat=chat)
    answers = asked.answers()
    refused = sum("granite" in asked_of(body) for body in server.bodies)
    assert refused == len(asked.keys) // 6 and receipt["made"] == len(asked.keys)
    assert answers["answer"].null_count() == refused and len(answers) == len(asked.keys)
    assert answers.filter(pl.col("answer").is_null())["finish_reason"].unique().to_list() == [reason]
    server.bodies.clear()
    assert asked.run(server.address, chat=chat)["cached"] == len(asked.keys) - refused
    assert len(server.bodies) == refused
    server.word = "nothing"
    asked.run(server.address, chat=chat)
    assert asked.answers()["answer"].null_count() == 0, "the server now takes it"


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_in_unknown_words_is_the_prompt_s_if_others_are_answered(status: int) -> None:
    """Otherwise it may be a key's, which would be refused with every prompt."""
    server = Refusing("prompt 5", status, openai_error("Anfrage abgelehnt"))
    engine = EndpointEngine({**DEFINITION, "base_url": server.address})
    reasons = {row["prompt_id"]: row["finish_reason"] for row in engine.answers(iter(REQUESTS))}
    assert reasons == {request.prompt_id: "stop" for request in REQUESTS} | {"p5": REFUSED}
    with pytest.raises(InputError, match=r"Anfrage abgelehnt.*; if it refuses a key of the request, write null"):
        list(EndpointEngine({**DEFINITION, "base_url": server.address}).answers(iter(REQUESTS[5:])))


def test_the_view_counts_it(asked: Asked, tmp_path: Path) -> None:
    status, body, _ = REFUSALS["Azure"]
    asked.run(Refusing("granite", status, body).address)
    files = dict(zip(asked.prompts.cells, asked.prompts.files, strict=True))
    counts = view_answers(files, asked.store, {(*cell, 1): tmp_path / "{}{}".format(*cell) for cell in files})
    [missing] = [count for count in counts if "missing" in count["what"]]
    assert missing["of"] == {"finish_reason": FILTERED} and missing["count"] == len(files)
    assert not [count for count in counts if "did not say" in count["what"]]


@pytest.mark.parametrize("name", ["Azure", "TGI", "Gemini's filter"])
def test_a_server_that_refuses_every_prompt_ends_the_job(asked: Asked, name: str) -> None:
    status, body, _ = REFUSALS[name]
    server = Refusing("", status, body)
    with pytest.raises(InputError, match=r"^endpoint http://127.*; expected an answer"):
        asked.run(server.address)
    assert len(server.bodies) == len(asked.keys) and asked.answers().is_empty()


def test_it_is_given_up_after_some(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "MOST_REFUSED", 3)
    server = Refusing("", *REFUSALS["TGI"][:2])
    with pytest.raises(InputError, match=r"; it refuses prompts: a server with a longer window"):
        asked.run(server.address)
    assert len(server.bodies) == 3 and server.most == 1, "one at a time until the first answer"


@pytest.mark.parametrize(("status", "body", "told"), OTHERS.values(), ids=OTHERS)
def test_what_is_not_about_the_prompt_ends_the_job(asked: Asked, status: int, body: Any, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        asked.run(Refusing("granite", status, body).address)


@pytest.mark.parametrize("variable", [None, "MY_KEY"])
@pytest.mark.parametrize(
    ("status", "told"), [(401, "api_key_env"), (429, "requests_per_minute"), (429, "max_retries"), (403, "api_key_env")]
)
def test_messages_name_the_key_to_set(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, status: int, told: str, variable: str | None
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-123")
    server = Refusing("", status, openai_error("no"))
    with pytest.raises(InputError, match=rf"HTTP {status}: .*; expected an answer; .*{told}") as error:
        asked.run(server.address, **({"api_key_env": variable} if variable else {}))
    assert (variable in str(error.value)) if variable and status != 429 else True
    assert {*server.keys} == {"Bearer secret-123" if variable else None}
