"""JSON that others wrote: what is wrong with it, in the words of a message."""

import json
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError

FAULTS = (ValueError, RecursionError)
"""What json.loads raises: for no JSON, for a number of more digits than Python reads, and for endless nesting."""


def json_fault(error: Exception) -> str:
    """What one of FAULTS says, for a message's found."""
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON ({error.msg} at column {error.colno})"
    if isinstance(error, RecursionError):
        return "JSON that is nested without end"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.object[error.start]:#04x}, which is no UTF-8"
    return "a number of more than 4,300 digits"


def json_object(path: Path, place: str, expected: str) -> dict[str, Any]:
    """The JSON object in the file at ``path``; raises InputError with ``place`` and ``expected`` otherwise."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except FAULTS as error:
        what = json_fault(error)
    else:
        if isinstance(value, dict):
            return value
        what = f"a {type(value).__name__}"
    raise InputError(place, f"{path}, which is no JSON object but {what}", expected)


def read_json(path: str | Path) -> Any:
    """The value of a JSON file that this package wrote; raises as the standard library does."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
