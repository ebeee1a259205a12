"""Find an endpoint's address and key in the generator's definition or the environment."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ragrelay.base.errors import InputError

URL_VARIABLE = "OPENAI_BASE_URL"


def endpoint_address(definition: Mapping[str, Any]) -> str:
    """Return ``base_url``, or else the environment's address. Raises InputError if both are missing, or for no URL."""
    if "base_url" in definition:
        return definition["base_url"]
    place, address = f"environment variable {URL_VARIABLE}", os.environ.get(URL_VARIABLE)
    if not address:
        expected = f"the address of the endpoint that serves {definition['model']!r}, or key base_url in its entry"
        raise InputError(place, "nothing", expected)
    check_url(place, address)
    return address


def endpoint_key(definition: Mapping[str, Any]) -> str | None:
    """Return the endpoint's key from the environment; None if the definition names no variable.

    Raises InputError if the variable isn't set, or if its value can't be sent, as with a line end from a file.
    """
    variable = definition.get("api_key_env")
    if variable is None:
        return None
    place, key = f"environment variable {variable}", os.environ.get(variable)
    if not key:
        raise InputError(place, "nothing", "the endpoint's key, since api_key_env names this variable")
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise InputError(place, "a line end, blank or other character that no key has", "only the key")
    return key


def check_url(place: str, address: str) -> None:
    """Raise InputError for anything but an http(s) address without password and query.

    Messages and results show an endpoint's address, so it must not contain a secret.
    """
    expected = "http:// or https:// with a host, such as https://host/v1"
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, whole = urlsplit(""), False
    if "@" in address:
        raise InputError(place, "an address with a user or password", "one without, and the key in api_key_env")
    if parts.query or parts.fragment:
        raise InputError(place, "an address with a query or fragment (? or #)", "one without")
    if not whole or not address.isascii() or not address.isprintable() or " " in address:
        raise InputError(place, repr(address), expected)
