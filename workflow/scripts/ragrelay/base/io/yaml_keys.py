"""Read YAML strictly: refuse repeated keys (YAML's readers keep the last), anchors that multiply, and numbers that YAML
reads as other numbers."""

import re
from pathlib import Path
from typing import Any

import yaml

from ragrelay.base.errors import InputError

MOST_VALUES, MOST_DEEP = 100_000, 50
"""Maximum values and levels of a file. An anchor's content counts wherever it is used."""
UNLIKE = re.compile(r"[-+]?(0_*[0-7][0-7_]*$|[0-9][0-9_]*:)")
"""Octal and sexagesimal numbers."""


class _Loader(yaml.CSafeLoader):
    """A safe loader that refuses repeated keys of a mapping and numbers that YAML 1.1 reads as others."""

    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(content)
        self.path = path
        self._checked: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys, then merge those of ``<<``. Called before a mapping is built, and when another merges it."""
        if id(node) not in self._checked:
            self._checked.add(id(node))
            seen: dict[tuple[str, str], int] = {}
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                line = key.start_mark.line + 1
                if before := seen.get((key.tag, key.value)):
                    found = f"key {key.value!r} again (line {before})"
                    raise InputError(f"{self.path}, line {line}", found, "each key once")
                seen[key.tag, key.value] = line
        super().flatten_mapping(node)

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

    Raises InputError for a repeated key, a number that is read as another, and too many values or levels;
    yaml.YAMLError for invalid YAML.
    """
    content = Path(path).read_bytes()
    _check_size(path, content)
    loader = _Loader(content, Path(path))
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _check_size(path: str | Path, content: bytes) -> None:
    """Raise InputError for too many values or levels, before a loader that calls itself for each level reads them."""
    values, levels = 0, [0]
    opened: list[tuple[str | None, int]] = []
    anchors: dict[str | None, tuple[int, int]] = {}
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        values += isinstance(event, yaml.NodeEvent)
        below = 0
        if isinstance(event, yaml.AliasEvent):
            size, below = anchors.get(event.anchor, (0, 0))
            values += size
        elif isinstance(event, yaml.CollectionStartEvent):
            anchors[event.anchor] = MOST_VALUES, 0  # refused if it contains itself
            opened.append((event.anchor, values))
            levels.append(0)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            below = 1 + levels.pop()
            anchors[anchor] = values - before, below
        levels[-1] = max(levels[-1], below)
        if values > MOST_VALUES or len(opened) + below > MOST_DEEP:
            found = f"more than {MOST_VALUES:,d} values or {MOST_DEEP} levels, anchors counted wherever they are used"
            raise InputError(path, found, "a mapping without nested anchors")
