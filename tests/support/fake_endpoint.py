"""A fake endpoint, for what a real one does only on a bad day: busy, broken, silent, or something else altogether."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ragrelay.generation.endpoint import EndpointEngine
from ragrelay.generation.generator import Request

DEFINITION = {
    "engine": "openai", "model": "m", "concurrency": 3, "max_retries": 3, "request_seconds": 60.0, "chat": False,
    "chat_template_kwargs": {},
    "temperature": 0.3, "top_k": 50, "top_p": 0.9, "min_p": 0.0, "max_tokens": 7, "stop": ["STOP"],
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "min_tokens": 0, "entropy": False,
}  # fmt: skip
REQUESTS = [Request(f"p{i}", 10 + i, (), 0, f"prompt {i}") for i in range(8)]


class FakeServer:
    """Answers completions with the prompt's text.

    ``raw``: whole replies (status, headers, body) given first; ``refusals``: statuses given next, with
    ``retry_after``; ``text``: answers by prompt; ``quiet`` leaves log-probabilities out; ``refused``: keys that end a
    request with ``refusal`` (status, body in which {key} stands for the first of them); ``window``: the tokens that it
    reads of a prompt, which has 3 more than words; ``together`` cleared: nobody but the first is answered before as
    many requests are there as may be at once; ``holding`` and its ``released`` cleared: requests for that prompt are
    not answered.
    """

    def __init__(self) -> None:
        self.raw: list[tuple[int, dict[str, str], bytes]] = []
        self.text: dict[str, str] = {}
        self.refusals: list[int] = []
        self.quiet = False
        self.refused: tuple[str, ...] = ()
        self.refusal = (400, '{"error": {"message": "Unsupported parameter: \'{key}\' is not supported"}}')
        self.window = 10**6
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
                    raw = server.raw.pop(0) if server.raw else server.reply_to(body)
                    status = server.refusals.pop(0) if server.refusals else 200
                    server.under_way += 1
                    server.most = max(server.most, server.under_way)
                    if server.under_way == DEFINITION["concurrency"]:
                        server.together.set()
                    first = len(server.bodies) == 1
                if not first:
                    server.together.wait(60)
                asked = asked_of(body)
                if asked == server.holding:
                    server.released.wait(60)
                said = (
                    server.said(body)
                    if status == 200
                    else {"error": {"message": f"no, {self.headers['Authorization']}"}}
                )
                headers = {"Content-Type": "application/json", "Retry-After": server.retry_after}
                refused = next((key for key in server.refused if key in body), None)
                if refused and not raw:
                    raw = (server.refusal[0], {}, server.refusal[1].replace("{key}", refused).encode())
                status, headers, content = raw or (status, headers, json.dumps(said).encode())
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                with server.lock:
                    server.under_way -= 1
                    server.answered.append(asked)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def reply_to(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes] | None:
        """A reply in place of an answer; a test's own server has some."""
        return None

    def said(self, body: dict[str, Any]) -> dict[str, Any]:
        asked = asked_of(body)
        logprobs = None if self.quiet else {"token_logprobs": [-1.0, -0.5], "tokens": ["a", "b"]}
        text = self.text.get(asked, f" to {asked} ")
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "logprobs": logprobs}
        choice |= {"message": {"content": text}, "logprobs": None} if "messages" in body else {"text": text}
        usage = {"prompt_tokens": min(size_of(body), self.window), "completion_tokens": 2}
        return {"id": "x", "object": "text_completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def asked_of(body: dict[str, Any]) -> str:
    """The prompt of a completion, or the user's part of a chat."""
    return str(body["prompt"] if "prompt" in body else body["messages"][-1]["content"])


def size_of(body: dict[str, Any]) -> int:
    """The tokens of a prompt: its ids, or its words and 3 more."""
    if isinstance(body.get("prompt"), list):
        return len(body["prompt"])
    texts = [message["content"] for message in body["messages"]] if "messages" in body else [body["prompt"]]
    return 3 + sum(len(text.split()) for text in texts)


def rows(**keys: Any) -> dict[str, dict[str, Any]]:
    engine = EndpointEngine({**DEFINITION, **keys})
    return {row["prompt_id"]: row for row in engine.answers(iter(REQUESTS))}
