"""The one error type for input that a user can correct."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class InputError(ValueError):
    """Input that can't be used, in one line: the place, what was found, what was expected.

    What can't be printed (line ends, terminal codes) is shown as an escape, whatever the input contains.
    """

    def __init__(self, place: str | Path, found: str, expected: str) -> None:
        super().__init__(printable(f"{place}: found {found}; expected {expected}"))
        self._parts = (place, found, expected)

    def __reduce__(self) -> tuple[type["InputError"], tuple[str | Path, str, str]]:
        """For an error that comes from another process."""
        return InputError, self._parts


class ConfigKey(str):
    """A key of the configuration as messages name it; ``/`` leads to a key, or a place of a list, below it."""

    path: str

    def __new__(cls, *steps: object) -> "ConfigKey":
        """Join ``steps``, the keys that lead to it, by points."""
        path = ".".join(map(str, steps))
        made = super().__new__(cls, f"config key {path!r}" if path else "config")
        made.path = path
        return made

    def __truediv__(self, step: object) -> "ConfigKey":
        return ConfigKey(self.path, step) if self.path else ConfigKey(step)


def printable(text: str) -> str:
    """``text`` on one line, every character that can't be printed as its escape in Python."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def one_of(known: Iterable[object], *given: object) -> str:
    """``one of a, b, c``, with a hint at the nearest of them where one is near to what was given."""
    names = [str(name) for name in known]
    return "one of " + ", ".join(names) + nearest(names, *given)


def nearest(known: Iterable[str], *given: object) -> str:
    """``; did you mean 'a'?`` for those of ``known`` that are near to one of ``given``; empty where none is."""
    names = list(known)
    near = {match for name in given for match in difflib.get_close_matches(str(name), names, n=1)}
    return f"; did you mean {' and '.join(map(repr, sorted(near)))}?" if near else ""
