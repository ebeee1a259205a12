"""Read YAML strictly: reject repeated keys, anchors that expand too much, and numbers that YAML misreads."""

import re
from pathlib import Path
from typing import Any

import yaml

from ragrelay.base.errors import InputError

MOST_VALUES, MOST_DEEP = 100_000, 50
"""Maximum number of values and of nesting levels in a file. An anchor's values count each time the anchor is used."""
UNLIKE = re.compile(r"[-+]?(0_*[0-7][0-7_]*|([1-9][\d_]*(:[0-5]?\d)+|\d[\d_]*(:[0-5]?\d)+\.[\d_]*))", re.ASCII)
"""Numbers that YAML 1.1 reads as octal or as base 60, such as 010 and 1:30."""


class _Loader(yaml.CSafeLoader):
    """A safe loader that rejects repeated keys in a mapping."""

    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(content)
        self.path = path
        self._checked: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Reject duplicate keys, then merge mappings under ``<<``. PyYAML calls this method for every mapping."""
        if id(node) not in self._checked:
            self._checked.add(id(node))
            seen: dict[tuple[str, str], int] = {}
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                line = key.start_mark.line + 1
                if before := seen.get((key.tag, key.value)):
                    found = f"duplicate key {key.value!r} (first on line {before})"
                    raise InputError(f"{self.path}, line {line}", found, "unique keys")
                seen[key.tag, key.value] = line
        super().flatten_mapping(node)


def read_yaml(path: str | Path) -> Any:
    """Return the content of the YAML (or JSON) file at ``path`` as plain Python types.

    Raises InputError for a repeated key, a number that YAML misreads, or too many values or nesting levels, and
    yaml.YAMLError for invalid YAML.
    """
    content = Path(path).read_bytes()
    _check_events(path, content)
    loader = _Loader(content, Path(path))
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def yaml_fault(error: Exception) -> str:
    """Describe an error of read_yaml, for use as an InputError's argument ``found``."""
    parts = [error.context, error.problem] if isinstance(error, yaml.MarkedYAMLError) else [str(error)]
    return f"invalid YAML ({' '.join(', '.join(filter(None, parts)).split())[:200]})"


def _check_events(path: str | Path, content: bytes) -> None:
    """Raise InputError for UNLIKE numbers and too many values or levels, before the recursive loader runs."""
    values, opened, sizes = 0, list[tuple[str | None, int]](), dict[str | None, int]()
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        values += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent):
            values += sizes.get(event.anchor, 0)
        elif isinstance(event, yaml.ScalarEvent) and event.implicit[0] and UNLIKE.fullmatch(event.value):
            found = f"{event.value}, which YAML reads as {yaml.safe_load(event.value)}"
            mark: Any = event.start_mark
            raise InputError(f"{path}, line {mark.line + 1}", found, "a decimal number, or text in quotation marks")
        elif isinstance(event, yaml.CollectionStartEvent):
            sizes[event.anchor] = MOST_VALUES  # too many if it contains itself
            opened.append((event.anchor, values))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes[anchor] = values - before
        if values > MOST_VALUES or len(opened) > MOST_DEEP:
            found = f"more than {MOST_VALUES:,d} values or {MOST_DEEP} nesting levels, with anchors expanded"
            raise InputError(path, found, "a smaller or less deeply nested mapping")
