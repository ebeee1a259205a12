"""Write the table of every configuration key in config/README.md, and the JSON Schema for editors: `make docs`."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.config.schema import load_schema  # noqa: E402

PAGE = ROOT / "config" / "README.md"
SCHEMA = ROOT / "config" / "config.schema.json"
START = "<!-- Below: written from the configuration's schema by `make docs`. -->"

Row = tuple[str, str, str, str]


def reference() -> str:
    """Markdown: a section for the plain keys and one per part of the configuration, with a table per kind of entry."""
    schema = load_schema()
    parts = {key: _parts(sub) for key, sub in schema["properties"].items()}
    plain = {key: sub for key, sub in schema["properties"].items() if not parts[key]}
    sections = ["### Top level\n", _table(_rows({**schema, "properties": plain}))]
    for key, tables in parts.items():
        if tables:
            sections.append(f"### `{key}`\n\n{schema['properties'][key]['description']}\n")
        for title, part in tables:
            sections += [f"#### {title}\n"] if title else []
            sections.append(_table(_rows(part)))
    return "\n".join(sections)


def schema_text() -> str:
    """Return the JSON Schema of a whole configuration."""
    return json.dumps(load_schema(), indent=1, ensure_ascii=False) + "\n"


def page(text: str) -> str:
    """Replace the reference in ``text``, config/README.md."""
    introduction, mark, _ = text.partition(START)
    if not mark:
        raise ValueError(f"{PAGE}: found no line {START!r}; expected it above the reference")
    return f"{introduction}{START}\n\n{reference()}"


def _parts(sub: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return titles and schemas of a top-level key's tables: none for a plain value, one per kind of entry."""
    if "properties" in sub:
        return [("", sub)]
    entry = sub.get("additionalProperties") or {}
    if "oneOf" in entry:
        return [(f"`{_selector(kind)}: {kind['title']}`", kind) for kind in entry["oneOf"]]
    return [("", entry)] if "properties" in entry else []


def _selector(kind: Mapping[str, Any]) -> str:
    return next(key for key, sub in kind["properties"].items() if "const" in sub)


def _rows(part: Mapping[str, Any]) -> Iterator[Row]:
    required = part.get("required", ())
    for key, sub in part["properties"].items():
        default = f"`{json.dumps(sub['default'])}`" if "default" in sub else "required" if key in required else "none"
        yield f"`{key}`", _type(sub), default, sub["description"]
        for nested in (each for each in (sub, *sub.get("anyOf", ())) if "properties" in each):
            for inner, kind, otherwise, about in _rows(nested):
                yield f"`{key}`: {inner}", kind, otherwise, about
        for kind in sub.get("oneOf", ()):  # kinds of an entry inside the entry
            for inner, value, otherwise, about in _rows(kind):
                own = inner == f"`{_selector(kind)}`"
                yield f"`{key}`: {inner}" if own else f"`{key}`, `{kind['title']}`: {inner}", value, otherwise, about


def _type(sub: Mapping[str, Any]) -> str:
    """Return what a value may be, in words: its type, choices and bounds."""
    if "const" in sub:
        return f"`{sub['const']}`"
    if "enum" in sub:
        return ", ".join(f"`{value}`" for value in sub["enum"])
    if "anyOf" in sub:
        return " or ".join(_type(alternative) for alternative in sub["anyOf"])
    if "oneOf" in sub:
        return "mapping"
    if sub["type"] == "array":
        return f"list of {_plural(_type(sub['items']))}"
    if sub["type"] == "object":
        values = sub.get("additionalProperties")
        return f"mapping of names to {_plural(_type(values))}" if isinstance(values, Mapping) else "mapping"
    name = sub["type"] if isinstance(sub["type"], str) else " or ".join(sub["type"])
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
    if "pattern" in sub:
        name = sub.get("format", "name")
    return ", ".join([name, *(f"{sign} {sub[word]}" for word, sign in bounds.items() if word in sub)])


def _plural(words: str) -> str:
    return re.sub(r"^\w+", r"\g<0>s", words)


def _table(rows: Iterable[Row]) -> str:
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
