"""The one error type for input that a user can correct."""

from pathlib import Path


class InputError(ValueError):
    """Input that can't be used, told in one line: the place, what was found, what was expected."""

    def __init__(self, place: str | Path, found: str, expected: str) -> None:
        super().__init__(f"{place}: found {found}; expected {expected}")
