"""Read YAML strictly: refuse repeated keys (YAML's readers keep the last), anchors that multiply, and numbers that YAML
reads as other numbers."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ragrelay.base.errors import InputError

MOST_VALUES, MOST_DEEP = 100_000, 50
"""Maximum values and levels of a configuration or template. An anchor's content counts wherever it is used."""
MOST_NESTED = 1000
"""Maximum levels of nesting for LibYAML's reader."""

UNLIKE = re.compile(r"[-+]?(0_*[0-7][0-7_]*$|[0-9][0-9_]*:)")
"""Octal and sexagesimal numbers."""


class _Loader(yaml.CSafeLoader):
    """A safe loader that raises InputError for a repeated key of a mapping."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_bytes())
        self.path = path
        self._checked: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys, then merge those of ``<<``. Called before a mapping is built, and when another merges it."""
        if id(node) not in self._checked:
            self._checked.add(id(node))
            self._check(node)
        super().flatten_mapping(node)
        if len(node.value) > MOST_VALUES:
            raise _too_many(f"{self.path}, line {node.start_mark.line + 1}")

    def _check(self, node: yaml.MappingNode) -> None:
        seen: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line, name = key.start_mark.line + 1, (key.tag, key.value)
                if name in seen:
                    found = f"key {key.value!r} again (line {seen[name]})"
                    raise InputError(f"{self.path}, line {line}", found, "each key once")
                seen[name] = line

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        """Return a number. Raises InputError if YAML 1.1 reads it as another, such as 1:30 as 90 or 010 as 8."""
        integer = node.tag.endswith(":int")
        value = self.construct_yaml_int(node) if integer else self.construct_yaml_float(node)
        if UNLIKE.match(node.value):
            place, found = f"{self.path}, line {node.start_mark.line + 1}", f"{node.value}, which is {value} in YAML"
            raise InputError(place, found, "that number, or a text in quotation marks")
        return value


for kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{kind}", _Loader.construct_number)


def read_yaml(path: str | Path) -> Any:
    """Return the content of the YAML (or JSON) file at ``path``, in plain types.

    Raises InputError with the line of a repeated key, InputError as check_size does, and yaml.YAMLError for invalid
    YAML.
    """
    _check_nesting(Path(path))
    loader = _Loader(Path(path))
    try:
        data = loader.get_single_data()
    finally:
        loader.dispose()
    check_size(data, str(path))
    return data


def check_size(data: Any, place: str) -> None:
    """Raise InputError for too many values. Nested anchors multiply, and an anchor may contain itself."""
    waiting, seen = [(data, 0)], 0
    while waiting:
        value, deep = waiting.pop()
        seen += 1
        if seen > MOST_VALUES or deep > MOST_DEEP:
            raise _too_many(place)
        if isinstance(value, Mapping | list | tuple):
            parts = value.values() if isinstance(value, Mapping) else value
            waiting.extend((part, deep + 1) for part in parts)


def _too_many(place: str) -> InputError:
    found = f"more than {MOST_VALUES:,d} values or {MOST_DEEP} levels, anchors counted wherever they are used"
    return InputError(place, found, "a mapping without nested anchors")


def _check_nesting(path: Path) -> None:
    """Raise InputError for nesting that would crash the process, since LibYAML's reader calls itself for each level.

    Counts levels only in a file with enough brackets, braces, dashes and question marks. Mappings nested by indentation
    alone need no such mark, but blanks that grow with the square of their number.
    """
    content = path.read_bytes()
    if sum(map(content.count, (b"[", b"{", b"- ", b"? "))) < MOST_NESTED:
        return
    deep = 0
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        deep += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if deep > MOST_NESTED:
            raise InputError(path, f"more than {MOST_NESTED} levels", "a mapping with fewer levels")
