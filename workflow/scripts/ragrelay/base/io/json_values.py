"""Read users' JSON and JSON Lines files, with messages that name the line and the problem."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError, type_name

FAULTS = (ValueError, RecursionError)
"""Errors that json.loads raises for invalid JSON, for numbers with too many digits, and for excessive nesting."""


def json_fault(error: Exception) -> str:
    """Describe one of the errors in FAULTS, for use as an InputError's argument ``found``."""
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON ({error.msg.removesuffix(' at')} at column {error.colno})"
    if isinstance(error, RecursionError):
        return "JSON that is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 (byte {error.object[error.start]:#04x})"
    return "a number with more than 4,300 digits"


def json_object(path: Path, place: str, expected: str) -> dict[str, Any]:
    """Return the JSON object in the file ``path``. Raises InputError if the file contains no JSON object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except FAULTS as error:
        what = json_fault(error)
    else:
        if isinstance(value, dict):
            return value
        what = f"{type_name(value)} instead of a JSON object"
    raise InputError(place, f"{path}, which contains {what}", expected)


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file that ragrelay wrote. Raises OSError or ValueError if reading fails."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def json_record(path: Path, number: int, line: str, halves: bool = False) -> dict[str, Any]:
    """Parse a line as a JSON object. Raises InputError for any other content, a repeated key or an unpaired surrogate.

    ``halves``: whether to allow unpaired surrogates; the caller must then check the values.
    """
    try:
        record = DECODER.decode(line)
        half = not halves and "\\ud" in line.lower() and not _is_text(record)
    except _KeyTwiceError as twice:
        raise InputError(f"{path}, line {number}", f"duplicate key {twice.args[0]!r}", "unique keys") from None
    except FAULTS as error:
        raise InputError(f"{path}, line {number}", json_fault(error), "a JSON object") from None
    if half:
        raise InputError(f"{path}, line {number}", "an unpaired surrogate", "text that can be encoded as UTF-8")
    if not isinstance(record, dict):
        raise InputError(f"{path}, line {number}", type_name(record), "a JSON object")
    return record


class _KeyTwiceError(Exception):
    """Raised for a key that occurs twice in a JSON object."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        times = Counter(key for key, _ in pairs)
        raise _KeyTwiceError(next(key for key in times if times[key] > 1))
    return record


DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _is_text(record: object) -> bool:
    """Return whether a record can be encoded as UTF-8. In a cut text, a JSON escape may be half a character."""
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
