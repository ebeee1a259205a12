"""An endpoint's replies that are no completions, answers that no file can hold, addresses and keys that are none."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.cost import answer_cost
from ragrelay.base.errors import InputError
from ragrelay.generation import endpoint
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.endpoint_address import check_url
from ragrelay.generation.engines.openai import Openai
from ragrelay.generation.generator import Request
from ragrelay.generation.job import TOTALS, keep
from ragrelay.generation.past_jobs import pace_of
from ragrelay.generation.store import AnswerStore

from tests.support.fake_endpoint import DEFINITION, REQUESTS, FakeServer, rows

pytestmark = pytest.mark.process

HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def reply(**changed: Any) -> bytes:
    """A completion with other values at its top; one that is None is left out."""
    whole = {"id": "x", "choices": [{"index": 0, "text": "tea", "finish_reason": "stop"}], "usage": USAGE} | changed
    return json.dumps({key: value for key, value in whole.items() if value is not None}).encode()


PASSING = {
    "a login page": (
        200, HTML, b"<html>\n <title>Log\nin</title></html>", "HTTP 200 text/html: <html> <title>Log in",
    ),
    "nothing": (200, JSON, b"", "no JSON object in HTTP 200 application/json, an empty reply"),
    "cut JSON": (200, JSON, reply()[:40], 'no JSON object in HTTP 200 application/json: {"id"'),
    "nesting without end": (200, JSON, b"[" * 100_000, "no JSON object in HTTP 200"),
    "half a character": (200, JSON, reply(choices=[{"text": "a \ud83d"}]), "no JSON object in HTTP 200"),
    "an error with 200": (
        200, JSON, b'{"error": {"message": "overloaded"}}', 'no choices in .*: {"error": .*overloaded',
    ),
    "less than announced": (
        200, {**JSON, "Content-Length": "999"}, reply(), "APIConnectionError: .*expected 999",
    ),
    "damaged gzip": (200, {**JSON, "Content-Encoding": "gzip"}, b"no gzip", "APIConnectionError: .*Error -3"),
    "token counts that are texts": (200, JSON, reply(usage={**USAGE, "prompt_tokens": "5"}), "usage.prompt_tokens"),
    "no text": (200, JSON, reply(choices=[{"index": 0}]), "no choices.0.text in HTTP 200"),
    "a text that is none": (200, JSON, reply(choices=[{"text": ["tea"]}]), "an unusable choices.0.text"),
    "endless log-probabilities": (
        200, JSON, reply(choices=[{"text": "a", "logprobs": {"token_logprobs": [float("-inf")]}}]), "token_logprobs",
    ),
    "candidates above 0": (
        200, JSON, reply(choices=[{"text": "a", "logprobs": {"top_logprobs": [{"a": 1.0}]}}]), "top_logprobs.0.a",
    ),
}  # fmt: skip
LASTING = {
    "moved": (301, {"Location": "https://u:pass@other.host/v1?token=t"}, b"", "HTTP 301, a redirect to other.host/v1,"),
    "elsewhere": (307, {"Location": "/v2/completions"}, b"", "HTTP 307, a redirect to /v2/completions, which is not"),
    "refused in HTML": (403, HTML, b"<html>\n<h1>Forbidden</h1>", "DeniedError: HTTP 403 text/html: <html> <h1>F"),
}  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "body", "told"), PASSING.values(), ids=PASSING)
def test_a_bad_reply_that_may_pass_is_asked_again(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, status: int, headers: dict[str, str], body: bytes, told: str
) -> None:
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: 0.0)
    server.raw = [(status, headers, body)] * 2
    assert len(rows(concurrency=1)) == len(REQUESTS)
    assert len(server.bodies) == len(REQUESTS) + 2
    server.raw = [(status, headers, body)] * 9
    message = _told(rows, concurrency=1)
    assert re.search(told, message), message
    assert len(server.raw) == 5, "asked once, and again max_retries times"


@pytest.mark.parametrize(("status", "headers", "body", "told"), LASTING.values(), ids=LASTING)
def test_a_bad_reply_that_will_come_again_ends_the_job(
    server: FakeServer, status: int, headers: dict[str, str], body: bytes, told: str
) -> None:
    server.raw = [(status, headers, body)]
    message = _told(rows, concurrency=1)
    assert re.search(told, message), message
    assert "pass@" not in message and "token=" not in message
    assert len(server.bodies) == 1


def _told(call: Callable[..., object], **keys: Any) -> str:
    with pytest.raises(InputError, match=r"^endpoint http://127.*; expected an answer") as error:
        call(**keys)
    assert str(error.value).isprintable()
    return str(error.value)


def test_a_reply_that_never_is_a_completion_ends_the_job_with_its_first_words(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers before it are kept, and the same command asks for the others alone."""
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: 0.0)
    words, store = "Bad gateway. " * 40, AnswerStore(tmp_path, "f")
    server.raw = [(200, JSON, reply())] * 3 + [(200, HTML, words.encode())] * 3
    message = _told(lambda: keep_answers(store, concurrency=1, max_retries=2))
    assert words[:200] in message and words[:300] not in message
    assert len(server.bodies) == 6 and pl.read_parquet(store.parts()).height == 3


def keep_answers(store: AnswerStore, **keys: Any) -> dict[str, Any]:
    """Keep answers as a generation job does, with one flush at the end."""
    engine = EndpointEngine({**DEFINITION, **keys})
    return keep(engine.answers(iter(REQUESTS)), len(REQUESTS), store, engine, TOTALS, "answers", 60, 0.0)


@pytest.mark.parametrize("key", ["secret-123\n", "secret-123\r\n", " secret-123", "secret\u200b123", "secret\t1"])
def test_a_key_that_cannot_be_sent(server: FakeServer, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """It may come from a file with its line end; the client's own error would print it."""
    monkeypatch.setenv("MY_KEY", key)
    for call in (rows, lambda **keys: Openai.check_address({**DEFINITION, **keys})):
        with pytest.raises(InputError, match="variable MY_KEY: found a line break, space or other") as error:
            call(api_key_env="MY_KEY")
        assert "secret" not in str(error.value)
    assert not server.bodies


@pytest.mark.parametrize(
    "address",
    [
        "host/v1", "localhost:8000", "ftp://host/v1", "file:///etc/passwd", "http://", "https:///v1", "http://host:x/v1",
        "http://host:99999", "http://[::1", "http://ho st/v1", "http://host/\x1b[2J", "javascript:alert(1)",
        "//host/v1", "http://b\u00fccher.example/v1", "http://host:0/v1",
    ],
)  # fmt: skip
def test_addresses_that_are_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with pytest.raises(InputError, match=r"^x: found .*; expected an http:// or https:// address with a host"):
        check_url("x", address)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(InputError, match="environment variable OPENAI_BASE_URL: found "):
        Openai.check_address(DEFINITION)


@pytest.mark.parametrize(
    "address", ["http://me:hunter2@host/v1", "https://hunter2@host/v1", "https://host/v1?api_key=hunter2", "x@hunter2"]
)
def test_addresses_with_secrets_are_not_shown(address: str) -> None:
    with pytest.raises(InputError, match="found an address with a ") as error:
        check_url("x", address)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("address", ["http://localhost:8000/v1", "https://host.example", "http://[::1]:8000/v1"])
def test_addresses(address: str) -> None:
    check_url("x", address)


@pytest.mark.parametrize(
    ("message", "ended", "expected"),
    [
        ({"content": None, "refusal": "I can't."}, "stop", (None, "refusal")),
        ({"content": "", "refusal": "I can't."}, "stop", (None, "refusal")),
        ({"content": None}, "content_filter", (None, "content_filter")),
        ({"content": ""}, "content_filter", (None, "content_filter")),
        ({"content": None, "tool_calls": [{"id": "x"}]}, "tool_calls", (None, "tool_calls")),
        ({"content": None, "reasoning_content": "a leaf?"}, "length", (None, "thinking")),
        ({"content": "", "reasoning": "a leaf?"}, "length", (None, "thinking")),
        ({"content": None}, "stop", (None, "no text")),
        ({"content": ""}, "stop", ("", "stop")),
        ({"content": "Tea", "reasoning": "a leaf?"}, "stop", ("Tea", "stop")),
        ({"content": "Tea"}, "content_filter", ("Tea", "content_filter")),
        ({"content": None}, "length", (None, "no text")),
        ({"content": "", "reasoning_tokens": 7}, "length", (None, "thinking")),
        ({"content": "", "reasoning_tokens": 7}, "stop", ("", "stop")),
        ({"content": "", "reasoning_tokens": 0}, "length", ("", "length")),
    ],
)
def test_a_reply_without_text_is_a_missing_answer(
    server: FakeServer, message: dict[str, Any], ended: str, expected: tuple[str | None, str]
) -> None:
    """Each endpoint's is stored with its reason: the store then has the key, so that it isn't asked again."""
    thought = {"reasoning_tokens": message["reasoning_tokens"]} if "reasoning_tokens" in message else None
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": ended}
    server.raw = [(200, JSON, reply(choices=[choice], usage={**USAGE, "completion_tokens_details": thought}))]
    row = next(EndpointEngine({**DEFINITION, "chat": True, "concurrency": 1}).answers(iter(REQUESTS[:1])))
    assert (row["answer"], row["finish_reason"]) == expected


def test_a_completion_of_null_is_a_missing_answer(server: FakeServer) -> None:
    server.raw = [(200, JSON, reply(choices=[{"text": None, "finish_reason": "content_filter"}]))]
    row = next(EndpointEngine({**DEFINITION, "concurrency": 1}).answers(iter(REQUESTS[:1])))
    assert (row["answer"], row["finish_reason"]) == (None, "content_filter")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": None}])
def test_counts_that_a_reply_does_not_have_stay_unknown(
    server: FakeServer, tmp_path: Path, usage: dict[str, None] | None
) -> None:
    """Store, metadata of the part, receipt, cost and speed have neither 0 nor a count of our own."""
    store = AnswerStore(tmp_path, "f")
    server.raw = [(200, JSON, reply(usage=usage))]
    receipt = keep_answers(store, concurrency=1)
    counts = pl.read_parquet(store.parts()).sort("prompt_id").select("prompt_tokens", "cached_tokens", "answer_tokens")
    assert counts.rows() == [(None, None, None), *[(5, 0, 2)] * 7]
    assert [receipt[name] for name in TOTALS] == [None, None, None]
    assert not {"prompt_tokens", "answer_tokens"} & store.metadata(store.parts()[0]).keys()
    keys = pl.DataFrame({"retriever": "r", "k": 1, "prompt_id": ["p0", "p1"], "seed": [10, 11]})
    cost = answer_cost(keys.with_columns(pl.col("k", "seed").cast(pl.Int64)), store, 1)
    assert cost["answers"].to_list() == [2, 2, 2]
    assert cost["prompt_tokens"].to_list() == cost["answer_tokens"].to_list() == [None] * 3
    pace = pace_of(store, {**DEFINITION, "flush_seconds": 60})
    assert pace.speed is pace.tokens_per_second is None and pace.answer_tokens == 2.0


CUTS = {
    "token ids": ((*range(57),), "", 30, "found 30 tokens read (usage.prompt_tokens) from prompt p, which has 57"),
    "one token id": ((*range(57),), "", 56, "found 56 tokens read"),
    "nothing": ((*range(57),), "", 0, "found 0 tokens read"),
    "a text": ((), "word " * 40, 35, "found 35 tokens read (usage.prompt_tokens) from prompt p, which has 40 words"),
}
WHOLE = {
    "token ids": ((*range(57),), "", 57),
    "token ids and a start": ((*range(57),), "", 58),
    "a text": ((), "word " * 40, 52),
    "a text of long tokens": ((), "word " * 40, 36),
    "a text without blanks": ((), "\u8336" * 40, 20),
}


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(("ids", "text", "window", "found"), CUTS.values(), ids=CUTS)
def test_a_prompt_that_the_endpoint_cut(
    server: FakeServer, ids: tuple[int, ...], text: str, window: int, found: str, chat: bool
) -> None:
    server.window = window
    engine = EndpointEngine({**DEFINITION, "chat": chat})
    with pytest.raises(InputError, match=re.escape(found) + ".*; expected the entire prompt; use a server with a"):
        list(engine.answers(iter([Request("p", 1, ids, 0, text)])))


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(("ids", "text", "window"), WHOLE.values(), ids=WHOLE)
def test_a_prompt_that_the_endpoint_read(
    server: FakeServer, ids: tuple[int, ...], text: str, window: int, chat: bool
) -> None:
    """What it says of a text is kept, whatever the tokens are."""
    choice = {"text": "tea", "message": {"content": "tea"}, "finish_reason": "stop"}
    server.raw = [(200, JSON, reply(choices=[choice], usage={**USAGE, "prompt_tokens": window}))]
    [row] = EndpointEngine({**DEFINITION, "chat": chat}).answers(iter([Request("p", 1, ids, 0, text)]))
    assert (row["answer"], row["prompt_tokens"]) == ("tea", window)


def test_an_answer_that_the_server_cut_by_a_limit_of_its_own(server: FakeServer) -> None:
    """max_tokens is 7 here, so an answer of 2 tokens was not ended by it; a text's tokens may be counted otherwise."""
    choices = [{"text": "tea", "finish_reason": "length"}]
    cut = (200, JSON, reply(choices=choices))
    server.raw = [cut]
    with pytest.raises(InputError, match=r"answer to prompt p that the server cut after 2 tokens; expected .* after 7"):
        list(EndpointEngine(DEFINITION).answers(iter([Request("p", 1, (1, 2, 3))])))
    server.raw = [cut]
    assert len(list(EndpointEngine(DEFINITION).answers(iter(REQUESTS[:1])))) == 1
    server.raw = [(200, JSON, reply(choices=choices, usage={**USAGE, "completion_tokens": 7}))]
    assert len(list(EndpointEngine(DEFINITION).answers(iter([Request("p", 1, (1, 2, 3))])))) == 1
