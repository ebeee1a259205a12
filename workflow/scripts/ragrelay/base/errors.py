"""Define the error for input that users can correct, with helpers for its wording."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class InputError(ValueError):
    """Input that can't be used, reported in one line: the place, what was found, what was expected.

    Unprintable characters (line ends, terminal codes) are shown as escapes.

    Args:
        place: Where the input is: a file, a configuration key, an argument.
        found: The unusable value, or what is missing.
        expected: The values that would work.
    """

    def __init__(self, place: str | Path, found: str, expected: str) -> None:
        super().__init__(printable(f"{place}: found {found}; expected {expected}"))
        self.parts = (str(place), found, expected)

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str]]:
        """Pickle the parts, for an error that comes from another process."""
        return type(self), self.parts


class RequestError(InputError):
    """A request that no engine start can make possible, such as a prompt that is too long for the window.

    It follows from a job's configuration and inputs alone.
    """


class ConfigKey(str):
    """A configuration key, as messages write it. ``/`` appends a key, or a list item's index."""

    path: str

    def __new__(cls, *steps: object) -> "ConfigKey":
        """Join ``steps``, the keys that lead to it, with dots."""
        path = ".".join(map(str, steps))
        key = super().__new__(cls, f"config key {path!r}" if path else "config")
        key.path = path
        return key

    def __truediv__(self, step: object) -> "ConfigKey":
        return ConfigKey(self.path, step) if self.path else ConfigKey(step)


def printable(text: str) -> str:
    """Return ``text`` on one line, with Python's escapes for unprintable characters."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def one_of(known: Iterable[object], *given: object) -> str:
    """Return ``one of a, b, c``, with a hint if one of them resembles an entry in ``given``."""
    names = [str(name) for name in known]
    return "one of " + ", ".join(names) + nearest(names, *given)


def nearest(known: Iterable[str], *given: object) -> str:
    """Return ``; did you mean 'a'?`` for entries in ``known`` that resemble one in ``given``; empty without any."""
    names = list(known)
    near = {match for name in given for match in difflib.get_close_matches(str(name), names, n=1)}
    return f"; did you mean {' and '.join(map(repr, sorted(near)))}?" if near else ""
