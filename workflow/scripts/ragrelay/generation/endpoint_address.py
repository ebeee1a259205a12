"""Look up an endpoint's addresses and API key, and choose an address for each request."""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from ragrelay.base.errors import InputError
from ragrelay.base.io.secret_values import WITHOUT
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry

URL_VARIABLE = "OPENAI_BASE_URL"


def endpoint_addresses(definition: GeneratorEntry) -> list[str]:
    """Return the addresses in ``base_url`` or, if that key is missing, in the environment variable OPENAI_BASE_URL.

    Raises InputError if no address is set, or if the environment variable contains an invalid URL.
    """
    if given := definition.get("base_url"):
        return [given] if isinstance(given, str) else list(given)
    place, addresses = f"environment variable {URL_VARIABLE}", os.environ.get(URL_VARIABLE, "").split()
    if not addresses:
        expected = f"an endpoint address for model {definition['model']!r}, or key base_url in the generator's entry"
        raise InputError(place, "no value", expected)
    for address in addresses:
        check_url(place, address)
    return addresses


def endpoint_identity(definition: GeneratorEntry) -> str:
    """Return the first address in ``base_url``, which identifies the endpoint in the fingerprint."""
    given = definition.get("base_url", "")
    return given if isinstance(given, str) else given[0]


class Servers:
    """The addresses that serve a model. Requests go to the address with the fewest open requests. Thread-safe."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses, self._lock = list(dict.fromkeys(addresses)), threading.Lock()
        self._open: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self.replies: Counter[str] = Counter()
        """The number of replies from each address."""
        self._rests_until: dict[str, float] = {}
        self._tried, self._failed = set[str](), set[str]()

    @contextmanager
    def one(self, last: bool = False) -> Iterator[str]:
        """Choose the address for a request: among addresses that aren't paused, the one with the fewest open requests.

        If all addresses are paused, prefer addresses that have replied before, then the address whose pause ends first.
        ``last``: whether few retries are left; if so, avoid addresses that have failed and never replied.
        """
        with self._lock:
            if awake := self._awake(last):
                address = min(awake, key=lambda each: (self._open[each], self._asked[each]))
            else:
                address = min(self.addresses, key=lambda each: (not self.replies[each], self._rests_until[each]))
            self._open[address] += 1
            self._asked[address] += 1
        try:
            yield address
        finally:
            with self._lock:
                self._open[address] -= 1
                self._tried.add(address)

    def rest(self, address: str, seconds: float) -> None:
        """Pause ``address``: send it no requests for the next ``seconds`` if another address is available."""
        with self._lock:
            self._rests_until[address] = time.monotonic() + seconds

    def answered(self, address: str) -> None:
        """Record a reply from ``address``."""
        with self._lock:
            self.replies[address] += 1

    def all_tried(self) -> bool:
        """Return whether at least one request to each address has finished, successfully or not."""
        with self._lock:
            return {*self.addresses} <= self._tried

    def fails(self, address: str) -> bool:
        """Record that ``address`` failed, and return whether this is the address's first failure."""
        with self._lock:
            first = address not in self._failed
            self._failed.add(address)
            return first

    def shares(self) -> dict[str, int]:
        """Return each address's number of replies; empty unless an address failed while another was available."""
        return {address: self.replies[address] for address in self.addresses} if self._failed else {}

    def others(self, last: bool = False) -> bool:
        """Return whether there are several addresses and at least one isn't paused. For ``last``, see ``one``."""
        with self._lock:
            return len(self.addresses) > 1 and bool(self._awake(last))

    def _awake(self, last: bool = False) -> list[str]:
        now, wary = time.monotonic(), last and any(self.replies[each] for each in self.addresses)
        rested = [each for each in self.addresses if self._rests_until.get(each, 0.0) <= now]
        return [each for each in rested if not wary or self.replies[each] or each not in self._rests_until]


def endpoint_key(definition: GeneratorEntry) -> str | None:
    """Return the endpoint's API key from the environment; None if the definition has no ``api_key_env``.

    Raises InputError if the environment variable isn't set, or if the API key contains a character that can't be sent.
    """
    variable = definition.get("api_key_env")
    if variable is None:
        return None
    place, key = f"environment variable {variable}", os.environ.get(variable)
    if not key:
        raise InputError(place, "no value", "the endpoint's key, because api_key_env names this variable")
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise InputError(place, "a line break, space or other character that a key can't contain", "only the key")
    return key


def check_url(place: str, address: str) -> None:
    """Raise InputError unless ``address`` is an http or https URL without a user, password, query or fragment.

    Messages and results show the address, so the address must not contain a secret.
    """
    expected = "an http:// or https:// address with a host, such as https://host/v1"
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, whole = urlsplit(""), False
    if "@" in address:
        raise InputError(place, "an address with a user name or password", WITHOUT)
    if parts.query or parts.fragment:
        raise InputError(place, "an address with a query or fragment (? or #)", "an address without either")
    if not whole or not address.isascii() or not address.isprintable() or " " in address:
        raise InputError(place, repr(address), expected)
