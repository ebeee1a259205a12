"""Define InputError, for mistakes that users can correct, and helpers for error messages."""

import difflib
from collections.abc import Iterable
from pathlib import Path


class InputError(ValueError):
    """An error about unusable input: one line with the place, the value found and the values expected.

    Unprintable characters, such as line breaks and terminal codes, are shown as escapes.

    Args:
        place: The input's location, such as a file, a configuration key or an argument.
        found: The unusable value, or a phrase such as ``no such file``.
        expected: A description of valid values.
    """

    def __init__(self, place: str | Path, found: str, expected: str) -> None:
        super().__init__(printable(f"{place}: found {found}; expected {expected}"))
        self.parts = (str(place), found, expected)

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str]]:
        """Pickle the parts, so that the error can come from another process."""
        return type(self), self.parts


class RequestError(InputError):
    """An error that restarting the engine can't fix, such as a prompt that exceeds the window.

    The same configuration and inputs always cause the same error.
    """


class ConfigKey(str):
    """A configuration key as it appears in messages. The operator ``/`` appends a key or a list index."""

    path: str

    def __new__(cls, *steps: object) -> "ConfigKey":
        """Join ``steps``, the keys on the path to it, with dots."""
        path = ".".join(map(str, steps))
        key = super().__new__(cls, f"config key {path!r}" if path else "config")
        key.path = path
        return key

    def __truediv__(self, step: object) -> "ConfigKey":
        return ConfigKey(self.path, step) if self.path else ConfigKey(step)


def printable(text: str) -> str:
    """Return ``text`` on one line, with Python escapes for unprintable characters."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def type_name(value: object) -> str:
    """Return a noun phrase for the type of a value from JSON or YAML."""
    names = {
        dict: "a mapping",
        list: "a list",
        str: "text",
        bool: "true or false",
        int: "an integer",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")


def one_of(known: Iterable[object], *given: object, what: str = "") -> str:
    """Return ``what: one of a, b, c``, plus a hint if a ``given`` name resembles one of several known names."""
    names = [str(name) for name in known]
    listed = "one of " + ", ".join(names) if len(names) > 2 else " or ".join(names)
    if what:
        listed = f"{what}: {listed}" if names else f"{what}, but there is none"
    return listed + (nearest(names, *given) if len(names) > 1 else "")


def nearest(known: Iterable[str], *given: object) -> str:
    """Return ``; did you mean 'a'?`` if a ``given`` name resembles the known name ``a``, otherwise an empty string."""
    names = list(known)
    near = {match for name in given for match in difflib.get_close_matches(str(name), names, n=1)}
    return f"; did you mean {' and '.join(map(repr, sorted(near)))}?" if near else ""
