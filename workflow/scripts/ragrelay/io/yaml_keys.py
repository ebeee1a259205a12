"""Keys given twice in a YAML file, of which YAML's readers silently keep the last."""

from pathlib import Path

import yaml

from ragrelay.errors import InputError


def check_keys_once(path: str | Path) -> None:
    """Raise InputError naming the line where a mapping of the YAML (or JSON) file at ``path`` has a key again.

    Only the file's structure is read; no value is built. What is not YAML at all is left to its reader.
    """
    try:
        root = yaml.compose(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError):
        return
    waiting, done = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in done:  # anchors may share nodes, and even close a circle
            continue
        done.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _check(path, node)
            waiting += [part for pair in reversed(node.value) for part in reversed(pair)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)


def _check(path: str | Path, mapping: yaml.MappingNode) -> None:
    seen: dict[tuple[str, str], int] = {}
    for key, _ in mapping.value:
        if isinstance(key, yaml.ScalarNode):
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in seen:
                raise InputError(
                    f"{path}, line {line}", f"key {key.value!r} again (line {seen[name]})", "each key once"
                )
            seen[name] = line
