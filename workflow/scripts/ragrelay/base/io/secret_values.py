"""Recognise secrets in a configuration, and hide API keys that a server repeats in a reply.

Access tokens with known prefixes, URLs with passwords, and long random strings are treated as secrets.
"""

import html
import re
from collections.abc import Mapping
from urllib.parse import unquote

from ragrelay.base.errors import InputError

IN_VARIABLE = "set api_key_env to the name of the environment variable that contains it"
WITHOUT = f"an address without credentials; to use an API key, {IN_VARIABLE}"
# Each pattern is anchored at the start of a run or word and tries only its first mark, so that searching is linear.
SECRETS = {
    r"\bhf_[A-Za-z0-9]{20,}": ("an access token", "no token here; set the environment variable HF_TOKEN instead"),
    # OpenAI, Anthropic, OpenRouter, Stripe and others. Ordinary names that begin like this have shorter words.
    r"(?<![\w-])(?>[\w-]*?\b(?:sk|rk|pk|gsk|pplx|xai|nvapi|tgp|fw|glpat|npm|dop)[-_])"
    r"[\w-]*?(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}"
    r"|\br8_\w{20,}|\bxox[abeprs]-[\w-]{10,}|\bya29\.[\w-]{20,}|\bpypi-[\w-]{50,}"
    r"|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|(?<![\w-])(?>[\w-]*?\beyJ)[\w-]{10,}+\.eyJ[\w-]{10,}+\."  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\b[Bb]earer +[\w.~+/-]{16,}": (
        "text that looks like an access token or API key", f"no API key here; to use one, {IN_VARIABLE}"),
    r"\w://[^/\s?#]*@": ("an address with a user name or password", WITHOUT),
    r"(?i)[?&](?:api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|secret|password|pwd|sig|signature)=": (
        "an address with credentials in its query string", WITHOUT),
}  # fmt: skip
"""Patterns of secrets. Each maps to what messages call the secret, and what they expect instead."""
RANDOM = re.compile(r"[A-Za-z0-9]{32,}|[A-Za-z0-9+/_-]{40,}={0,2}")
"""A run of characters that may be random. _is_random excludes hexadecimal strings, such as commits and hashes."""
VARIABLE_KEY = "api_key_env"
SHORTEST_SECRET = 8
"""Minimum length of a key that counts as a secret, because words such as EMPTY or local are used to mean no key."""
SHOWN, KEPT = 8, 12
"""Messages never contain SHOWN consecutive characters of a key; stored replies never contain KEPT of them."""


def check_no_secret(value: object, key: str = "") -> None:
    """Raise InputError if a key or value in a configuration looks like a secret. The message doesn't show the secret.

    A secret would leak, because results contain a copy of the configuration, and messages show configuration values.
    """
    if isinstance(value, Mapping):
        for name, sub in value.items():
            check_no_secret(str(name), f"{key}.…".lstrip("."))
            check_no_secret(sub, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for number, sub in enumerate(value):
            check_no_secret(sub, f"{key}.{number}")
    elif isinstance(value, str):
        secret = secret_in(value)
        # Elsewhere, short or hexadecimal keys pass as ordinary text. A variable's name doesn't look like one.
        is_variable = re.fullmatch(r"[A-Z0-9_]+|[a-z_]+|[A-Za-z_]+|.{,15}", value, re.DOTALL)
        if key.endswith(f".{VARIABLE_KEY}") and not is_variable:
            secret = secret or (
                "text that looks like an API key",
                "the name of the environment variable that contains the key",
            )
        if secret:
            raise InputError(f"config key {key!r}", *secret)


def secret_in(text: str) -> tuple[str, str] | None:
    """Return which kind of secret ``text`` seems to contain and what to write instead, or None if it contains none."""
    for pattern, secret in SECRETS.items():
        if re.search(pattern, text):
            return secret
    if any(map(_is_random, RANDOM.findall(text))):
        return "a long random string that looks like an API key", f"no API key here; to use one, {IN_VARIABLE}"
    return None


def _is_random(run: str) -> bool:
    """Return whether ``run`` looks like random letters of both cases and digits. Names have few, adjacent digits.

    Among 32 random letters and digits, 5 are digits, in 4 or 5 places.
    """
    pieces = re.findall(r"\d+|[A-Z]+|[a-z+/_=-]+", run)
    upper, lower = len(re.findall("[A-Z]", run)), len(re.findall("[a-z]", run))
    return sum(map(str.isdigit, pieces)) >= 2 and min(upper, lower) >= 5 and len(pieces) > len(run) * 0.45


class SentKey:
    """An API key to search for in a server's replies, both unchanged and with JSON, HTML or URL escapes."""

    def __init__(self, key: str | None) -> None:
        self._key = _unescaped(key) if key and len(key) >= SHORTEST_SECRET else ""

    def is_in(self, text: str, length: int = KEPT) -> bool:
        """Return whether ``text`` contains the key or, for a long key, ``length`` consecutive characters of the key."""
        if not self._key:
            return False
        plain, length = _unescaped(text), min(length, len(self._key))
        return any(self._key[start : start + length] in plain for start in range(len(self._key) - length + 1))

    def hidden(self, text: str) -> str:
        """Return ``text``, or only the HTTP status if ``text`` contains SHOWN consecutive characters of the key."""
        if not self.is_in(text, SHOWN):
            return text
        status = re.search(r"HTTP \d{3}", text)
        return f"{status[0] if status else 'a reply'} that contains the endpoint's key, not shown"


def _unescaped(text: str) -> str:
    """Return ``text`` without JSON (even nested), URL and HTML escapes."""
    text = re.sub(r"\\+(?:u([0-9a-fA-F]{4})|[bfnrt])", lambda match: chr(int(match[1] or "20", 16)), text)
    return html.unescape(unquote(text)).replace("\\", "")
