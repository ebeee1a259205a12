"""A key that an endpoint sends back: nothing of it is kept, printed or logged."""

import html
import json
import logging
import random
import string
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.store import AnswerStore

from tests.support.fake_endpoint import FakeServer, rows
from tests.unit.generation.test_endpoint_replies import JSON, keep_answers, reply

pytestmark = pytest.mark.process

CHANCE = random.Random(35)
KEY = "sk-proj-" + "".join(CHANCE.choices(string.ascii_letters + string.digits, k=44))
KEYS = [KEY, "".join(CHANCE.choices(string.hexdigits, k=16)), "a-secret/of_this+test=1", 'pass"word\\with<&>marks']
WAYS: dict[str, Callable[[str], str]] = {
    # As it stands between the quotation marks of a JSON text.
    "as it is": lambda key: json.dumps(f"Your key is {key}, isn't it?")[1:-1],
    "JSON's escapes": lambda key: "".join(f"\\u{ord(one):04X}" for one in key),
    "JSON in JSON": lambda key: json.dumps(json.dumps({"key": key}))[1:-1],
    "an address's escapes": lambda key: "".join(f"%{ord(one):02X}" for one in key),
    "HTML's numbers": lambda key: "".join(f"&#{ord(one)};" for one in key),
}
PLACES: dict[str, Callable[[str], str]] = {
    "answer": lambda said: f'{{"choices": [{{"text": "{said}", "finish_reason": "stop"}}], %s}}',
    "finish_reason": lambda said: f'{{"choices": [{{"text": "tea", "finish_reason": "{said}"}}], %s}}',
    "model": lambda said: f'{{"model": "{said}", "choices": [{{"text": "tea"}}], %s}}',
    "an unknown field": lambda said: f'{{"headers": {{"x-api-key": "{said}"}}, "choices": [{{"text": "tea"}}], %s}}',
    "no completion": lambda said: f'{{"choices": [], "detail": "{said}", %s}}',
}
USAGE = '"usage": {"prompt_tokens": 5, "completion_tokens": 2}'


def body(place: str, said: str) -> bytes:
    return PLACES[place]("\0").replace("%s", USAGE).replace("\0", said).encode()


def shows(key: str, text: str) -> bool:
    """Whether ``text``, as it is or read as JSON, an address or HTML, has 8 characters in a row of ``key``."""
    readings = [text, unquote(text), html.unescape(text), text.encode().decode("unicode_escape", "replace")]
    return any(key[start : start + 8] in reading for reading in readings for start in range(len(key) - 7))


def said_of(server: FakeServer, status: int, content: bytes, headers: dict[str, str] = JSON) -> str:
    server.raw = [(status, headers, content)]
    with pytest.raises(InputError, match=r"^endpoint http://127") as error:
        rows(concurrency=1, api_key_env="MY_KEY", max_retries=0)
    return str(error.value)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("way", WAYS)
def test_a_reply_with_the_key_is_not_kept(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    way: str,
    key: str,
) -> None:
    """One line says so, the request is not repeated, and the answer before it is kept."""
    monkeypatch.setenv("MY_KEY", key)
    caplog.set_level(logging.DEBUG)
    for place in [*PLACES] if key == KEY else [*PLACES][KEYS.index(key) :: 4]:
        server.bodies.clear()
        store = AnswerStore(tmp_path, place)
        server.raw = [(200, JSON, reply()), (200, JSON, body(place, WAYS[way](key)))]
        with pytest.raises(InputError, match="found the API key in a reply, which is therefore not stored") as error:
            keep_answers(store, api_key_env="MY_KEY", concurrency=1)
        assert len(server.bodies) == 2 and not shows(key, str(error.value))
        [part] = store.parts()
        assert key.encode() not in part.read_bytes()
    assert not shows(key, caplog.text)


@pytest.mark.parametrize("key", KEYS[::3])
@pytest.mark.parametrize("way", WAYS)
def test_no_message_has_the_key(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, way: str, key: str
) -> None:
    """It has only the status."""
    monkeypatch.setenv("MY_KEY", key)
    said = WAYS[way](key).encode()
    for status, content in (
        (401, b'{"error": {"message": "Incorrect key: ' + said + b'"}}'),
        (403, b"<html>" + said + b"</html>"),
        (500, b" " * 700 + said),
    ):
        message = said_of(server, status, content)
        assert not shows(key, message), message
        assert f"HTTP {status}" in message
    assert not shows(key, caplog.text)


@pytest.mark.parametrize("blank", [" ", "x"])
def test_a_key_that_a_message_cuts(server: FakeServer, monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    """A message is cut at 300 characters, and a reply at 4,000 bytes: neither shows a piece of it."""
    monkeypatch.setenv("MY_KEY", KEY)
    for before in [*range(210, 300, 30), *range(3950, 4000, 16)]:
        for said in (KEY, WAYS["JSON's escapes"](KEY)):
            message = said_of(server, 403, (blank * before + said).encode())
            assert not shows(KEY, message), message


HEADERS = {
    "content type": (401, {"Content-Type": f"text/{KEY}"}),
    "redirect with escapes": (307, {"Location": "/v1/" + WAYS["an address's escapes"](KEY)}),
    "redirect to another host": (308, {"Location": f"http://{KEY}.example/"}),
    "encoding": (200, {"Content-Encoding": KEY}),
    "broken header": (200, {f"X {KEY}": "\x01"}),
}


@pytest.mark.parametrize(("status", "headers"), HEADERS.values(), ids=HEADERS)
def test_a_key_in_a_header(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    status: int,
    headers: dict[str, str],
) -> None:
    """What the HTTP library says of a header that it can't read does not show it either."""
    monkeypatch.setenv("MY_KEY", KEY)
    with caplog.at_level(logging.INFO):
        assert not shows(KEY, said_of(server, status, b"no", {**JSON, **headers}))
    assert not shows(KEY, caplog.text)


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_takes_the_key_nowhere(server: FakeServer, status: int) -> None:
    other = FakeServer()
    message = said_of(server, status, b"", {"Location": f"{other.address}/completions"})
    assert "a redirect to http://127" in message and "which is not followed" in message
    assert other.keys == [] and other.bodies == []
    other.server.shutdown()


def test_a_word_that_stands_for_no_key_is_no_secret(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "EMPTY")
    server.text = {"prompt 2": "Well, EMPTY it is."}
    assert rows(api_key_env="MY_KEY")["p2"]["answer"] == "Well, EMPTY it is."


def test_answers_about_keys_are_answers(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only begins as the key does, and text without it, are kept as they are."""
    monkeypatch.setenv("MY_KEY", KEY)
    texts = ["Keys begin with sk-proj-.", '100 %41 of \\u0041 & "quotes" <&#x41>', "sk-proj-" + "A" * 44, "\\" * 9]
    server.text = {f"prompt {number}": text for number, text in enumerate(texts)}
    found = rows(api_key_env="MY_KEY")
    assert [found[f"p{number}"]["answer"] for number in range(len(texts))] == texts
