"""The endpoint's engine against a fake server, for what a real one does only on a bad day: busy, broken, silent."""

import io
import json
import logging
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from ragrelay.display import progress
from ragrelay.errors import InputError
from ragrelay.generation import endpoint
from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.requests import Request

DEFINITION = {
    "engine": "openai", "model": "m", "concurrency": 3, "max_retries": 3, "request_seconds": 60.0, "chat": False,
    "chat_template_kwargs": {}, "temperature": 0.3, "top_k": 50, "top_p": 0.9, "min_p": 0.0, "max_tokens": 7,
    "stop": ["STOP"],
}  # fmt: skip
REQUESTS = [Request(f"p{i}", 10 + i, (), 0, f"prompt {i}") for i in range(8)]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class FakeServer:
    """Answers completions with the prompt's text.

    ``refusals``: statuses given first, with ``retry_after``; ``quiet`` leaves log-probabilities out; ``together``
    cleared: nobody is answered before as many requests are there as may be at once; ``holding`` and its ``released``
    cleared: requests for that prompt are not answered.
    """

    def __init__(self) -> None:
        self.refusals: list[int] = []
        self.quiet = False
        self.retry_after = "0"
        self.bodies: list[dict[str, Any]] = []
        self.answered: list[str] = []
        self.keys: list[str | None] = []
        self.under_way = self.most = 0
        self.lock = threading.Lock()
        self.together = threading.Event()
        self.together.set()
        self.holding, self.released = "", threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server.lock:
                    server.bodies.append(body)
                    server.keys.append(self.headers["Authorization"])
                    status = server.refusals.pop(0) if server.refusals else 200
                    server.under_way += 1
                    server.most = max(server.most, server.under_way)
                    if server.under_way == DEFINITION["concurrency"]:
                        server.together.set()
                server.together.wait(60)
                if body["prompt"] == server.holding:
                    server.released.wait(60)
                said = (
                    server.said(body)
                    if status == 200
                    else {"error": {"message": f"no, {self.headers['Authorization']}"}}
                )
                content = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After", server.retry_after)
                self.send_header("Content-Length", str(len(content)))
                with server.lock:
                    server.under_way -= 1
                    server.answered.append(body["prompt"])
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def said(self, body: dict[str, Any]) -> dict[str, Any]:
        logprobs = None if self.quiet else {"token_logprobs": [-1.0, -0.5], "tokens": ["a", "b"]}
        choice = {"index": 0, "text": f" to {body['prompt']} ", "finish_reason": "stop", "logprobs": logprobs}
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        return {"id": "x", "object": "text_completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    fake = FakeServer()
    monkeypatch.setenv("OPENAI_BASE_URL", fake.address)
    monkeypatch.setenv("MY_KEY", "secret-123")
    monkeypatch.setenv("OPENAI_API_KEY", "not-this-one")
    yield fake
    fake.released.set()
    fake.server.shutdown()


def rows(**keys: Any) -> dict[str, dict[str, Any]]:
    engine = EndpointEngine({**DEFINITION, **keys})
    return {row["prompt_id"]: row for row in engine.answers(iter(REQUESTS))}


def test_rows_and_parameters(server: FakeServer) -> None:
    found = rows()
    assert found.keys() == {request.prompt_id for request in REQUESTS}
    assert found["p3"] == {
        "prompt_id": "p3", "seed": 13, "answer": "to prompt 3", "finish_reason": "stop", "prompt_tokens": 5,
        "cached_tokens": 0, "answer_tokens": 2, "logprob": -1.5, "dropped_passages": 0,
    }  # fmt: skip
    body = next(body for body in server.bodies if body["prompt"] == "prompt 3")
    assert body == {
        "model": "m", "prompt": "prompt 3", "seed": 13, "temperature": 0.3, "top_k": 50, "top_p": 0.9, "max_tokens": 7,
        "stop": ["STOP"], "logprobs": 0,
    }  # fmt: skip


def test_at_most_concurrency_at_once(server: FakeServer) -> None:
    server.together.clear()
    rows()
    assert server.most == 3


def test_busy_and_broken_servers_are_asked_again(server: FakeServer) -> None:
    server.refusals = [429, 503, 500]
    assert len(rows()) == len(REQUESTS)
    assert len(server.bodies) == len(REQUESTS) + 3


def test_retries_show_on_a_terminal(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for what comes at once; the log has every retry, and none of the requests that went well."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    server.refusals = [429, 503, 500]
    with caplog.at_level(logging.INFO), progress.named("demo, bm25"):
        rows(api_key_env="MY_KEY", concurrency=1)
    place = f"endpoint {server.address}/, model 'm'"
    [line] = screen.getvalue().splitlines()
    assert line.startswith(f"demo, bm25: {place}: RateLimitError: Error code: 429 - ")
    assert "no, Bearer ***" in line and line.endswith("; retry 1 of 3 in 0.0 s")
    told = [record.getMessage() for record in caplog.records]
    assert [text.rsplit("; ")[-1] for text in told] == [f"retry {n} of 3 in 0.0 s" for n in (1, 2, 3)], told


def test_a_silent_server_is_given_up(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes requests and never answers: asked twice, whatever the number of retries."""
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: 0.0)
    server.holding = "prompt 0"
    engine = EndpointEngine({**DEFINITION, "max_retries": 12, "request_seconds": 0.2, "concurrency": 1})
    expected = r"APITimeoutError: .*; expected an answer within 0.2 s \(request_seconds\)"
    with pytest.raises(InputError, match=expected):
        list(engine.answers(iter(REQUESTS)))
    assert [body["prompt"] for body in server.bodies] == ["prompt 0", "prompt 0"]


def test_a_job_that_is_stopped_does_not_wait_for_answers(server: FakeServer) -> None:
    server.holding = "prompt 1"
    answers = EndpointEngine(DEFINITION).answers(iter(REQUESTS))
    assert "p1" not in [next(answers)["prompt_id"] for _ in REQUESTS[1:]]
    answers.close()
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
    with pytest.raises(InputError, match="environment variable OPENAI_BASE_URL: found nothing"):
        rows()


def test_key_comes_from_the_named_variable_and_is_never_told(
    server: FakeServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.INFO):
        rows()
        assert set(server.keys) == {"Bearer none"}
        server.keys.clear()
        rows(api_key_env="MY_KEY")
        assert set(server.keys) == {"Bearer secret-123"}
        server.refusals = [401] * 8
        with pytest.raises(InputError, match="AuthenticationError") as error:
            rows(api_key_env="MY_KEY")
    assert "secret-123" not in str(error.value) + caplog.text
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(InputError, match="environment variable MY_KEY: found nothing"):
        rows(api_key_env="MY_KEY")


def test_pace(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 30 requests per minute each starts 2 seconds after the one before, on a clock of the test's own."""
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


def test_without_log_probabilities(server: FakeServer) -> None:
    server.quiet = True
    assert {row["logprob"] for row in rows().values()} == {None}
