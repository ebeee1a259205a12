"""A fake endpoint for one test."""

from collections.abc import Iterator

import pytest

from tests.support.fake_endpoint import FakeServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    fake = FakeServer()
    monkeypatch.setenv("OPENAI_BASE_URL", fake.address)
    monkeypatch.setenv("MY_KEY", "secret-123")
    monkeypatch.setenv("OPENAI_API_KEY", "not-this-one")
    yield fake
    fake.released.set()
    fake.server.shutdown()
