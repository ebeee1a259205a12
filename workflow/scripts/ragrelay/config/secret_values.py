"""What a secret looks like: access tokens by their makers' prefixes, addresses with passwords, long random texts."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ragrelay.errors import InputError

HUB_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")
TOKENS = re.compile(
    # OpenAI, Anthropic, OpenRouter, Stripe and others; a name that begins so has shorter words.
    r"\b(?:sk|rk|pk|gsk|pplx|xai|nvapi|tgp|fw|glpat|npm|dop)[-_][\w-]*?(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}"
    r"|\br8_\w{20,}|\bxox[abeprs]-[\w-]{10,}|\bya29\.[\w-]{20,}|\bpypi-[\w-]{50,}"
    r"|\bAIza[\w-]{30,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\."  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\b[Bb]earer +[\w.~+/-]{16,}"
)
PASSWORD = re.compile(r"\w://[^/\s?#]*@")
QUERY = re.compile(r"[?&](?:api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|secret|password|pwd|sig|signature)=", re.I)
RANDOM = re.compile(r"[A-Za-z0-9]{32,}|[A-Za-z0-9+/_-]{40,}={0,2}")
"""A run that a random text of letters and digits has; hexadecimal ones are commits and hashes."""
VARIABLE_KEY = "api_key_env"


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
    if (found := secret_in(text)) is not None:
        raise InputError(f"config key {key!r}", *found)
    # Shorter keys, or those of hexadecimal digits, pass as texts elsewhere; a variable's name looks otherwise.
    if is_variable and len(text) >= 16 and not re.fullmatch(r"[A-Z0-9_]+|[a-z_]+|[A-Za-z_]+", text):
        raise InputError(f"config key {key!r}", "what looks like the key itself", "the name of the variable with it")


def secret_in(text: str) -> tuple[str, str] | None:
    """What kind of secret ``text`` seems to contain and where such a thing belongs; None if it contains none."""
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
