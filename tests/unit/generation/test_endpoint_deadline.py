"""A request ends in its time whatever the server sends: by bytes on a socket, as no HTTP library would send them."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation import endpoint
from ragrelay.generation.endpoint import EndpointEngine

from tests.support.fake_endpoint import DEFINITION, REQUESTS

pytestmark = pytest.mark.process

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LATE = 120.0
"""Seconds after which an exchange counts as endless: 200 times what it may take."""


class DrippingServer:
    """Sends ``first``, then ``again`` every ``pause`` seconds for as long as the client stays; counts both ends."""

    def __init__(self, first: bytes, again: bytes, pause: float) -> None:
        self.first, self.again, self.pause = first, again, pause
        self.asked, self.left = 0, threading.Semaphore(0)
        self.closed = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                self.asked += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.recv(65536)
            client.sendall(self.first)
            while not self.closed.wait(self.pause):
                client.sendall(self.again)
        self.left.release()


DRIPS = {
    "a byte of the status": (b"", b"H", 0.1),
    "a byte of the body": (OK + b"Content-Length: 100000\r\n\r\n{", b'"', 0.1),
}


@contextlib.contextmanager
def dripping(first: bytes, again: bytes, pause: float) -> Iterator[DrippingServer]:
    server = DrippingServer(first, again, pause)
    try:
        yield server
    finally:
        server.closed.set()
        server.socket.close()


def end_of(**keys: object) -> str:
    """What asking one thing ends with; fails where that is still under way after LATE seconds."""
    said: list[str] = []

    def ask() -> None:
        try:
            said.append(repr(list(EndpointEngine({**DEFINITION, **keys}).answers(iter(REQUESTS[:1])))))
        except InputError as error:
            said.append(str(error))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(LATE)
    assert said, "the exchange has no end"
    return said[0]


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_request_ends_in_its_time(drip: tuple[bytes, bytes, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that drips bytes times out as a silent one does: asked once more, one line, connection closed."""
    monkeypatch.setattr(endpoint, "BACKOFF", lambda state: 0.0)
    with dripping(*drip) as server:
        said = end_of(base_url=server.address, max_retries=12, request_seconds=0.6)
        assert said.endswith(
            "found APITimeoutError: Request timed out.; expected an answer within 0.6 s (request_seconds)"
        )
        assert server.asked in (1, 2), "a second time, unless the first took twice its time on a busy machine"
        assert all(server.left.acquire(timeout=LATE) for _ in range(server.asked)), "a connection was left open"
