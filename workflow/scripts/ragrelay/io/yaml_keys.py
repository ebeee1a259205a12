"""YAML files in which no mapping has a key twice (YAML's own readers keep the last), no anchors multiply, and no number
is another one than it looks like."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ragrelay.errors import InputError

MOST_VALUES, MOST_DEEP = 100_000, 50
"""Most values of a configuration or template, counting an anchor's content wherever it is used."""
MOST_NESTED = 1000
"""Most levels of nesting that LibYAML's reader may reach."""

UNLIKE = re.compile(r"[-+]?(0_*[0-7][0-7_]*$|[0-9][0-9_]*:)")
"""Octal and sexagesimal numbers."""


class _Loader(yaml.CSafeLoader):
    """A safe loader that raises InputError for a key that a mapping has already."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_bytes())
        self.path = path
        self._checked: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys, then merge those of ``<<``: before a mapping is built, and again where another merges it."""
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
        """Return a number, unless YAML 1.1 takes it for another than it looks like: 1:30 for 90, and 010 for 8."""
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

    Raises InputError naming the line where a mapping has a key again, as check_size does, and yaml.YAMLError for what
    is no YAML.
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
    """Raise InputError for more values than anyone writes: nested anchors multiply, and one may contain itself."""
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
    """Raise InputError for nesting that would end the process: LibYAML's reader calls itself for each level.

    Levels are counted where there are marks enough for many; those of mappings by indentation take a line each, and
    the square of their number in blanks.
    """
    content = path.read_bytes()
    if sum(map(content.count, (b"[", b"{", b"- ", b"? "))) < MOST_NESTED:
        return
    deep = 0
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        deep += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if deep > MOST_NESTED:
            raise InputError(path, f"more than {MOST_NESTED} levels", "a mapping with fewer levels")
