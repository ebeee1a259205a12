"""Recognise secrets in a configuration, and hide a key that was sent to a server in the server's replies.

Access tokens with known prefixes, addresses with passwords and long random texts look like secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from ragrelay.base.errors import InputError

HUB_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")
# Each pattern starts at the beginning of a run or word and tries only its first mark, so that a search is linear.
TOKENS = re.compile(
    # OpenAI, Anthropic, OpenRouter, Stripe and others. Names that begin like this have shorter words.
    r"(?<![\w-])(?>[\w-]*?\b(?:sk|rk|pk|gsk|pplx|xai|nvapi|tgp|fw|glpat|npm|dop)[-_])"
    r"[\w-]*?(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}"
    r"|\br8_\w{20,}|\bxox[abeprs]-[\w-]{10,}|\bya29\.[\w-]{20,}|\bpypi-[\w-]{50,}"
    r"|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|(?<![\w-])(?>[\w-]*?\beyJ)[\w-]{10,}+\.eyJ[\w-]{10,}+\."  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\b[Bb]earer +[\w.~+/-]{16,}"
)
PASSWORD = re.compile(r"\w://[^/\s?#]*@")
QUERY = re.compile(r"[?&](?:api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|secret|password|pwd|sig|signature)=", re.I)
RANDOM = re.compile(r"[A-Za-z0-9]{32,}|[A-Za-z0-9+/_-]{40,}={0,2}")
"""A run that may be random letters and digits; _is_random excludes hexadecimal ones, such as commits and hashes."""
VARIABLE_KEY = "api_key_env"
SHORTEST_SECRET = 8
"""Length of the shortest key that counts as secret. EMPTY, local and similar texts stand for no key."""
SHOWN, KEPT = 8, 12
"""Numbers of consecutive characters of a key that no message shows, and that no kept reply has."""
ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
"""An escaped character in JSON and Python."""
WEB_ESCAPE = re.compile(rb"(?:%|&#[xX]0*)([0-9a-fA-F]{2});?|&#0*(\d{2,3});?")
"""An escaped character in a URL and HTML."""
STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)("\s*:|"|)', re.S)
"""A JSON string, maybe cut off. The second group ends with a colon if it is a key."""
SEPARATORS = bytes(byte for byte in range(256) if not (byte < 128 and chr(byte).isalnum()))
STATUS = re.compile(r".*?HTTP \d{3}")


def check_no_secret(value: Any, key: str = "") -> None:
    """Raise InputError if a key or value of a configuration looks like a secret, without showing any part of it.

    The configuration is written into the results, and messages repeat its values.
    """
    if isinstance(value, Mapping):
        for name, sub in value.items():
            shown = "…" if secret_in(str(name)) else str(name)
            place = f"{key}.{shown}".lstrip(".")
            _check(str(name), place, False)
            check_no_secret(sub, place)
    elif isinstance(value, list | tuple):
        for number, sub in enumerate(value):
            check_no_secret(sub, f"{key}.{number}")
    elif isinstance(value, str):
        _check(value, key, key.endswith(f".{VARIABLE_KEY}"))


def _check(text: str, key: str, is_variable: bool) -> None:
    if (secret := secret_in(text)) is not None:
        raise InputError(f"config key {key!r}", *secret)
    # Elsewhere, short or hexadecimal keys pass as texts. A variable's name looks different from them.
    if is_variable and len(text) >= 16 and not re.fullmatch(r"[A-Z0-9_]+|[a-z_]+|[A-Za-z_]+", text):
        raise InputError(
            f"config key {key!r}", "what looks like the key itself", "the name of the variable that has the key"
        )


def secret_in(text: str) -> tuple[str, str] | None:
    """Return the kind of secret that ``text`` seems to contain, and where it belongs; None if it contains none."""
    if HUB_TOKEN.search(text):
        return "an access token", "no token here; put it in the environment variable HF_TOKEN"
    if TOKENS.search(text):
        return "what looks like an access token or key", "no key here; api_key_env names the variable that has it"
    if PASSWORD.search(text):
        return (
            "an address with a user or password",
            "an address without it; api_key_env names the variable with an endpoint's key",
        )
    if QUERY.search(text):
        return (
            "an address with a key in its query",
            "an address without it; api_key_env names the variable with an endpoint's key",
        )
    if any(map(_is_random, RANDOM.findall(text))):
        return "a long random text, which looks like a key", "no key here; api_key_env names the variable that has it"
    return None


def _is_random(run: str) -> bool:
    """Return whether ``run`` mixes letters of both cases and digits at random. Names have few digits, side by side.

    Of 32 random letters and digits, 5 are digits, in 4 or 5 places; their entropy is at least 4 bits a character.
    """
    digits, places = len(re.findall(r"\d", run)), len(re.findall(r"\d+", run))
    upper, lower = len(re.findall("[A-Z]", run)), len(re.findall("[a-z]", run))
    if digits < 2 or places < 2 or min(upper, lower) < 5:
        return False
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    changes = sum(_sort(left) != _sort(right) for left, right in pairwise(run))
    return entropy >= 4 and changes >= len(run) * 0.45


def _sort(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"


class SentKey:
    """A key that is sent to a server, which may send it back in a reply that is kept or shown.

    It is recognised unchanged; with escapes of JSON, Python, HTML or URLs; spread over several strings of a JSON text;
    in capitals; and with other characters in between, as in UTF-16. A server that hides it on purpose still can.
    """

    def __init__(self, key: str | None) -> None:
        self.key = (key or "").encode() if len(key or "") >= SHORTEST_SECRET else b""
        self.letters = _letters(self.key)

    def is_in(self, *texts: bytes) -> bool:
        """Return whether one of ``texts`` has the key, or KEPT consecutive characters of a longer one."""
        least = min(KEPT, len(self.key))
        whole = self.letters if len(self.letters) >= KEPT else None
        return bool(self.key) and any(
            _has_run(view, self.key, least) or (whole and whole in _letters(view))
            for text in texts
            for view in _views(text)
        )

    def hidden(self, text: str) -> str:
        """Return ``text`` for a message, with *** for each SHOWN or more consecutive characters of the key.

        If it has them in another form, only the status at its beginning is returned.
        """
        if not self.key:
            return text
        runs = {self.key[start : start + SHOWN].decode() for start in range(len(self.key) - SHOWN + 1)}
        hit = [text[start : start + SHOWN] in runs for start in range(len(text))]
        covered = [any(hit[max(0, place - SHOWN + 1) : place + 1]) for place in range(len(text))]
        pieces = groupby(zip(covered, text, strict=True), key=lambda pair: pair[0])
        shown = "".join("***" if is_covered else "".join(letter for _, letter in piece) for is_covered, piece in pieces)
        if not self._shows(shown):
            return shown
        status = STATUS.match(shown)
        begin = status[0] if status and not self._shows(status[0]) else "a reply"
        return f"{begin} that contains the endpoint's key, not shown"

    def _shows(self, text: str) -> bool:
        return any(
            _has_run(view, self.key, SHOWN) or _has_run(_letters(view), self.letters, SHOWN)
            for view in _views(text.encode("utf-8", "surrogatepass"))
        )


def _letters(text: bytes) -> bytes:
    return text.translate(None, SEPARATORS).lower()


def _views(text: bytes) -> Iterator[bytes]:
    """Yield forms of ``text``: itself, its JSON strings, its JSON strings that are no keys; each also unescaped."""
    text = text.replace(b"\0", b"")
    yield from _unescaped(text)
    if b'"' in text:
        strings = STRING.findall(text)
        yield from _unescaped(b"".join(string for string, _ in strings))
        yield from _unescaped(b"".join(string for string, end in strings if not end.endswith(b":")))


def _unescaped(text: bytes) -> Iterator[bytes]:
    yield text
    if b"%" in text or b"&#" in text:
        yield WEB_ESCAPE.sub(lambda match: bytes([int(match[1], 16) if match[1] else int(match[2]) % 256]), text)
    for _ in range(3):  # JSON in JSON in JSON
        if b"\\" in text:
            text = ESCAPE.sub(_meant, text)
            yield text


def _meant(match: re.Match[bytes]) -> bytes:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16)).encode("utf-8", "surrogatepass")
    return b"" if match[3] in b"bfnrtv" else match[3]


def _has_run(text: bytes, key: bytes, length: int) -> bool:
    """Return whether ``text`` has ``length`` consecutive characters of ``key``."""
    if len(key) < length:
        return False
    # Each such run contains one of these pieces. Searching for the pieces first is faster.
    piece = (length + 1) // 2
    if not any(key[start : start + piece] in text for start in range(0, len(key) - piece + 1, piece)):
        return False
    return any(key[start : start + length] in text for start in range(len(key) - length + 1))
