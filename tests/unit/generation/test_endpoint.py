"""The endpoint's engine against a fake server, for what a real one does only on a bad day: busy, broken, silent."""

import io
import logging
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from ragrelay.base.display import progress
from ragrelay.base.errors import InputError
from ragrelay.generation import endpoint
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.generator import NEUTRAL
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys, with_texts
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.token_progress import PROGRESS

from tests.support.fake_endpoint import DEFINITION, REQUESTS, FakeServer, rows
from tests.unit.generation.test_requests import Prompts

pytestmark = pytest.mark.process


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_rows_and_parameters(server: FakeServer) -> None:
    found = rows()
    assert found.keys() == {request.prompt_id for request in REQUESTS}
    assert found["p3"] == {
        "prompt_id": "p3", "seed": 13, "answer": "to prompt 3", "finish_reason": "stop", "prompt_tokens": 5,
        "cached_tokens": 0, "answer_tokens": 2, "logprob": -1.5, "dropped_passages": 0,
        "token_logprobs": [-1.0, -0.5], "token_entropies": None, "first_token_margin": None,
    }  # fmt: skip
    body = next(body for body in server.bodies if body["prompt"] == "prompt 3")
    assert body == {
        "model": "m", "prompt": "prompt 3", "seed": 13, "temperature": 0.3, "top_k": 50, "top_p": 0.9, "min_p": 0.0,
        "max_tokens": 7, "min_tokens": 0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
        "stop": ["STOP"], "logprobs": 0,
    }  # fmt: skip


def test_progress_hears_how_long_requests_have_been_open(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while none ends."""
    monkeypatch.setattr(endpoint, "TOLD_EVERY", 0.05)
    server.holding, told = "prompt 5", list[tuple[list[tuple[float, float]], list[float]]]()

    def waited(took: list[tuple[float, float]], seconds: list[float]) -> None:
        told.append(([*took], seconds))
        if sum(len(open) == 1 and len(server.answered) == 7 for _, open in told) > 2:
            server.released.set()

    reset = PROGRESS.set(SimpleNamespace(waited=waited))
    try:
        assert len(rows()) == len(REQUESTS)
    finally:
        PROGRESS.reset(reset)
    (before, [some]), (after, [more]) = [each for each in told if len(each[1]) == 1][-2:]
    assert before == after and more > some > 0
    assert [tokens for _, tokens in after] == [2] * 7 and all(seconds > 0 for seconds, _ in after)


def test_busy_and_broken_servers_are_asked_again(server: FakeServer) -> None:
    """By a second call of the engine, too."""
    engine = EndpointEngine(DEFINITION)
    for requests, statuses in ((REQUESTS[:2], [429]), (REQUESTS[2:], [503, 500])):
        server.refusals = statuses
        assert len(list(engine.answers(iter(requests)))) == len(requests)
    assert len(server.bodies) == len(REQUESTS) + 3


def test_retries_show_on_a_terminal(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One line shows what comes at once; the log has every retry, and none of the requests that went well."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    server.refusals = [429, 503, 500]
    with caplog.at_level(logging.INFO), progress.prefixed("demo, bm25"):
        rows(api_key_env="MY_KEY", concurrency=1)
    place = f"endpoint {server.address}/, model 'm'"
    [line] = screen.getvalue().splitlines()
    shown = "HTTP 429 that contains the endpoint's key, not shown; retry 1 of 3 in 0.0 s"
    assert line == f"demo, bm25: {place}: {shown}"
    told = [record.getMessage() for record in caplog.records]
    assert [text.rsplit("; ")[-1] for text in told] == [f"retry {n} of 3 in 0.0 s" for n in (1, 2, 3)], told


def test_a_silent_server_is_given_up(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes requests and never answers: it is asked twice, whatever the number of retries."""
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: 0.0)
    server.holding = "prompt 0"
    engine = EndpointEngine({**DEFINITION, "max_retries": 12, "request_seconds": 1.0, "concurrency": 1})
    expected = r"APITimeoutError: .*; expected an answer within 1 s \(request_seconds\)"
    with pytest.raises(InputError, match=expected):
        list(engine.answers(iter(REQUESTS)))
    assert [body["prompt"] for body in server.bodies] == ["prompt 0", "prompt 0"]


def test_a_job_that_is_stopped_does_not_wait_for_answers(server: FakeServer) -> None:
    server.holding = "prompt 1"
    answers = EndpointEngine(DEFINITION).answers(iter(REQUESTS))
    assert "p1" not in [next(answers)["prompt_id"] for _ in REQUESTS[1:]]
    answers.close()  # type: ignore[attr-defined]
    assert len(server.answered) == len(REQUESTS) - 1


def test_an_endpoint_that_wants_to_be_left_alone_for_long_is_not_waited_for(server: FakeServer) -> None:
    server.refusals, server.retry_after = [429] * 8, "3600"
    with pytest.raises(InputError, match="RateLimitError"):
        rows(concurrency=1)
    assert len(server.bodies) == 1


def test_what_is_finished_is_kept_when_retries_run_out(server: FakeServer) -> None:
    engine = EndpointEngine({**DEFINITION, "max_retries": 0, "concurrency": 2})
    made = []
    with pytest.raises(InputError, match=r"endpoint http.*, model 'm': found RateLimitError: .*; expected an answer"):
        for row in engine.answers(iter(REQUESTS)):
            made.append(row["prompt_id"])
            if len(made) == 4:
                server.refusals = [429] * 100
    assert len(made) >= 4 and len(server.bodies) < len(REQUESTS) + 1


def test_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="APIConnectionError"):
        rows(base_url="http://127.0.0.1:9/v1", max_retries=0)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="environment variable OPENAI_BASE_URL: found no value"):
        rows()


def test_key_comes_from_the_named_variable(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    rows()
    assert set(server.keys) == {None}
    server.keys.clear()
    rows(api_key_env="MY_KEY")
    assert set(server.keys) == {"Bearer secret-123"}
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(InputError, match="environment variable MY_KEY: found no value"):
        rows(api_key_env="MY_KEY")


def test_pace(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 30 requests per minute each starts 2 seconds after the one before, and at once after a pause."""
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(endpoint.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(endpoint.time, "sleep", sleep)
    pace = endpoint._Pace(30)
    for _ in range(4):
        pace.wait()
    assert slept == [2.0, 2.0, 2.0]
    now[0] += 10
    pace.wait()
    assert len(slept) == 3, "after a pause nothing is owed"
    endpoint._Pace(None).wait()
    assert len(slept) == 3


@pytest.mark.parametrize("keys", [{}, {"chat": True}, {"tokenizer": "resources/demo/model", "thinking": "none"}])
def test_a_value_that_does_nothing_is_sent_and_null_is_not(server: FakeServer, keys: dict[str, Any]) -> None:
    """If it were not sent, a server would decide: vLLM by the model's generation_config.json."""
    rows(**keys, **NEUTRAL)
    assert all(body.items() >= NEUTRAL.items() for body in server.bodies)
    for name in (*NEUTRAL, "temperature", "top_p"):
        server.bodies.clear()
        rows(**keys, **{name: None})
        assert len(server.bodies) == len(REQUESTS)
        assert all(name not in body and {*NEUTRAL, "max_tokens", "seed"} - {name} <= {*body} for body in server.bodies)


def test_keys_of_ones_own_and_another_name(server: FakeServer) -> None:
    rows(chat=True, max_tokens_name="max_completion_tokens", stop=[], extra_body={"seed": None, "effort": "low"})
    for body in server.bodies:
        assert body["max_completion_tokens"] == 7 and body["effort"] == "low"
        assert not {"max_tokens", "seed", "stop"} & {*body} and body["logprobs"] is True


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(
    ("refused", "status", "keys"),
    [
        ("max_tokens", 400, {"max_tokens_name": "max_completion_tokens"}), ("stop", 400, {"stop": []}),
        ("top_k", 422, {"top_k": None}), ("logprobs", 403, {"extra_body": {"logprobs": None}}),
    ],
)  # fmt: skip
def test_a_refused_key_is_named_once_and_can_be_left_out(
    server: FakeServer, refused: str, status: int, keys: dict[str, Any], chat: bool
) -> None:
    server.refused, server.refusal = (refused,), (status, '{"detail": "Unsupported: {key}"}')
    told = f'HTTP {status}: {{"detail": "Unsupported: {refused}"}}; expected .* write null or another name for it'
    with pytest.raises(InputError, match=told):
        rows(chat=chat)
    assert len(server.bodies) == 1, "the first request goes alone"
    assert len(rows(chat=chat, **keys)) == len(REQUESTS)
    assert not any(refused in body for body in server.bodies[1:])


def test_a_job_at_an_endpoint_that_cuts_prompts_stores_nothing(server: FakeServer, tmp_path: Path) -> None:
    """The longest prompt goes first: the short ones, which the endpoint reads, are not even sent."""
    prompts = Prompts(tmp_path, {f"q{number}": f"question {number}" for number in range(4)})
    asked = asked_keys({"bm25": prompts.files}, [1, 2])
    words = pl.concat(with_texts(asked))["prompt"].str.split(" ").list.len()
    generator, store = {**DEFINITION, "flush_seconds": 0.0}, AnswerStore(tmp_path, "f")

    def start(definition: Mapping[str, Any], _: int | None) -> EndpointEngine:
        return EndpointEngine(definition)

    server.window = int(words.min() or 0) + 1
    with pytest.raises(InputError, match=rf"found {server.window} tokens read .* which has {words.max()} words"):
        generate_answers(asked, store, generator, prompts.layout, start)
    assert store.parts() == [] and len(server.bodies) == 1
    server.window = int(words.max() or 0)
    assert generate_answers(asked, store, generator, prompts.layout, start)["made"] == len(asked)
    assert len(server.bodies) == 1 + len(asked)


def test_entropies_of_the_candidates(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entropies are of the 20 likeliest: the sampled token of the second place is the 21st and does not count."""
    many = {f"t{i}": math.log(0.04) for i in range(20)} | {"b": math.log(0.01)}
    places = [{"a": math.log(0.9), "x": math.log(0.1)}, many]

    def said(body: dict[str, Any]) -> dict[str, Any]:
        reply = FakeServer.said(server, body)
        reply["choices"][0]["logprobs"]["top_logprobs"] = places[: body["logprobs"]]
        return reply

    monkeypatch.setattr(server, "said", said)
    expected = [-(0.9 * math.log(0.9) + 0.1 * math.log(0.1)), math.log(20)]
    found = rows(entropy=True)["p3"]
    assert found["token_entropies"] == pytest.approx(expected, abs=1e-9)
    assert found["token_logprobs"] == [-1.0, -0.5]
    assert found["first_token_margin"] == pytest.approx(math.log(9))
    assert rows()["p3"]["token_entropies"] is rows()["p3"]["first_token_margin"] is None


def test_without_log_probabilities(server: FakeServer) -> None:
    server.quiet = True
    names = ("logprob", "token_logprobs", "token_entropies", "first_token_margin")
    assert {tuple(row[name] for name in names) for row in rows(entropy=True).values()} == {(None,) * 4}
