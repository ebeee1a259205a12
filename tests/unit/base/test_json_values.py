"""JSON that others wrote, at the bounds of Python's reader: numbers without end and nesting without end."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import json_object, json_record

ENDLESS = {
    "a number": ('{"a": ' + "9" * 5000 + "}", "a number with more than 4,300 digits"),
    "lists": ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "JSON that is nested too deeply"),
    "lists without an end": ("[" * 100_000, "JSON that is nested too deeply"),
    "objects": ('{"a": ' * 100_000 + "1" + "}" * 100_000, "JSON that is nested too deeply"),
}


def of_line(path: Path, text: str) -> object:
    return json_record(path, 1, text)


def of_file(path: Path, text: str) -> object:
    path.write_text(text)
    return json_object(path, "x", "a whole file")


@pytest.mark.parametrize(("text", "found"), ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("read", [of_line, of_file])
def test_what_does_not_end_is_told(tmp_path: Path, read: Callable[..., object], text: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path / "x.json", text)
    assert found in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize("text", ["tea", r"\ude00"])
def test_at_the_last_level_that_can_be_read(tmp_path: Path, text: str) -> None:
    """The characters of a record that is read are looked at too, which goes as deep."""
    ends = set()
    for deep in range(sys.getrecursionlimit() - 150, sys.getrecursionlimit() + 10):
        try:
            of_line(tmp_path / "x", '{"a": ' + "[" * deep + f'"{text}"' + "]" * deep + "}")
            ends.add("read")
        except InputError as error:
            ends.add(str(error).partition(": found ")[2].partition(";")[0])
    first = "read" if text == "tea" else "an unpaired surrogate"
    assert ends == {first, "JSON that is nested too deeply"}


def test_a_key_twice_in_a_record(tmp_path: Path) -> None:
    """Python's own reader keeps the last; in an object within it, the same."""
    for text in ('{"a": 1, "b": 2, "a": 1}', '{"c": [{"a": {}, "a": {}}]}'):
        with pytest.raises(InputError, match="x, line 1: found duplicate key 'a'; expected unique keys"):
            of_line(tmp_path / "x", text)


def test_a_line_of_many_keys(tmp_path: Path) -> None:
    """Keys are counted once, not once a key: that took hours."""
    keys = ", ".join(f'"k{number}": {number}' for number in range(200_000))
    assert len(json_record(tmp_path, 1, f"{{{keys}}}")) == 200_000
    with pytest.raises(InputError, match="line 3: found duplicate key 'k7'; expected unique keys"):
        json_record(tmp_path, 3, f'{{{keys}, "k9": 1, "k7": 1}}')
