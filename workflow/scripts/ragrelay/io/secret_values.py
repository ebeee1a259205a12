"""Secrets: recognise them in a configuration, and keep a key that is sent to a server out of its replies.

Access tokens with their makers' prefixes, addresses with passwords and long random texts look like secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from ragrelay.errors import InputError

HUB_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")
# From the beginning of a run, whose first mark alone counts, and of a word: a search is linear then.
TOKENS = re.compile(
    # OpenAI, Anthropic, OpenRouter, Stripe and others; a name that begins so has shorter words.
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
"""A run that a random text of letters and digits has; hexadecimal ones are commits and hashes."""
VARIABLE_KEY = "api_key_env"
SHORTEST_SECRET = 8
"""Characters of the shortest key that counts as secret; EMPTY, local and similar texts stand for no key."""
SHOWN, KEPT = 8, 12
"""Characters of a key in a row that no message shows and that no reply may have."""
ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
"""A character as JSON and Python write it."""
WEB_ESCAPE = re.compile(rb"(?:%|&#[xX]0*)([0-9a-fA-F]{2});?|&#0*(\d{2,3});?")
"""A character as an address and HTML write it."""
STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)("\s*:|"|)', re.S)
"""A JSON string, also one that is cut off; its second group ends with a colon where it is a key."""
SEPARATORS = bytes(byte for byte in range(256) if not (byte < 128 and chr(byte).isalnum()))
STATUS = re.compile(r".*?HTTP \d{3}")


def check_no_secret(value: Any, key: str = "") -> None:
    """Raise InputError where a key or value of a configuration looks like a secret; no part of it is shown.

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
    # Shorter keys, or those of hexadecimal digits, pass as texts elsewhere; a variable's name looks otherwise.
    if is_variable and len(text) >= 16 and not re.fullmatch(r"[A-Z0-9_]+|[a-z_]+|[A-Za-z_]+", text):
        raise InputError(f"config key {key!r}", "what looks like the key itself", "the name of the variable with it")


def secret_in(text: str) -> tuple[str, str] | None:
    """Return the kind of secret that ``text`` seems to contain, and where it belongs; None if it contains none."""
    if HUB_TOKEN.search(text):
        return "an access token", "it in the environment variable HF_TOKEN alone"
    if TOKENS.search(text):
        return "what looks like an access token or key", "it in the environment alone; api_key_env names the variable"
    if PASSWORD.search(text):
        return (
            "an address with a user or password",
            "one without; api_key_env names the variable with an endpoint's key",
        )
    if QUERY.search(text):
        return (
            "an address with a key in its query",
            "one without; api_key_env names the variable with an endpoint's key",
        )
    if any(map(_is_random, RANDOM.findall(text))):
        return "a long random text, as keys are", "it in the environment alone; api_key_env names the variable"
    return None


def _is_random(run: str) -> bool:
    """Whether letters of both cases and digits are mixed as by chance: names have few digits, and have them together.

    Of 32 random letters and digits, 5 are digits, in 4 or 5 places; their entropy is at least 4 bits a character.
    """
    digits, places = len(re.findall(r"\d", run)), len(re.findall(r"\d+", run))
    upper, lower = len(re.findall("[A-Z]", run)), len(re.findall("[a-z]", run))
    if digits < 2 or places < 2 or min(upper, lower) < 5:
        return False
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    changes = sum(_sort(one) != _sort(other) for one, other in pairwise(run))
    return entropy >= 4 and changes >= len(run) * 0.45


def _sort(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"


class SentKey:
    """A key that is sent to a server, which may send it back: in a reply that is kept, or in one that is shown.

    It is found as it is; with JSON's, Python's, HTML's or a URL's escapes; over several strings of a JSON text; in
    capitals; and with other characters in between, as in UTF-16. A server that wants to hide it from us still can.
    """

    def __init__(self, key: str | None) -> None:
        self.key = (key or "").encode() if len(key or "") >= SHORTEST_SECRET else b""
        self.letters = _letters(self.key)

    def is_in(self, *texts: bytes) -> bool:
        """Return whether one of ``texts`` has the key, or KEPT characters in a row of a longer one."""
        least = min(KEPT, len(self.key))
        whole = self.letters if len(self.letters) >= KEPT else None
        return bool(self.key) and any(
            _has_run(view, self.key, least) or (whole and whole in _letters(view))
            for text in texts
            for view in _views(text)
        )

    def hidden(self, text: str) -> str:
        """Return ``text`` for a message, *** for each SHOWN or more characters in a row of the key.

        If it has them in another form, only the status at its beginning is left.
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
    """Forms of ``text``: itself, all its strings, its strings that are no JSON keys; each also without its escapes."""
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
    """Return whether ``text`` has ``length`` characters of ``key`` in a row."""
    if len(key) < length:
        return False
    # Each such run has one of these pieces whole, which are found faster than all runs.
    piece = (length + 1) // 2
    if not any(key[start : start + piece] in text for start in range(0, len(key) - piece + 1, piece)):
        return False
    return any(key[start : start + length] in text for start in range(len(key) - length + 1))
