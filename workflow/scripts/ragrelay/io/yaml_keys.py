"""YAML files in which no mapping has a key twice; YAML's own readers silently keep the last."""

from pathlib import Path
from typing import Any

import yaml

from ragrelay.errors import InputError


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

    def _check(self, node: yaml.MappingNode) -> None:
        seen: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line, name = key.start_mark.line + 1, (key.tag, key.value)
                if name in seen:
                    found = f"key {key.value!r} again (line {seen[name]})"
                    raise InputError(f"{self.path}, line {line}", found, "each key once")
                seen[name] = line


def read_yaml(path: str | Path) -> Any:
    """What the YAML (or JSON) file at ``path`` holds, in plain types.

    Raises InputError naming the line where a mapping has a key again, and yaml.YAMLError for what is no YAML.
    """
    loader = _Loader(Path(path))
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
