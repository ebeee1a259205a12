"""Write every configuration key into docs/reference/keys-*.md, their index into config/README.md, and the JSON Schema.

`make docs` runs it.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.config.schema import load_schema  # noqa: E402

INDEX = ROOT / "config" / "README.md"
FOLDER = ROOT / "docs" / "reference"
SCHEMA = ROOT / "config" / "config.schema.json"
START = "<!-- Below: written from the configuration's schema by `make docs`. -->"
PAGES = {
    "study": (
        "the study and its grid",
        ("", "grid", "analysis", "budget", "compare", "recheck", "published", "pathvars"),
    ),
    "datasets": ("datasets", ("datasets",)),
    "retrievers": ("retrievers", ("retrievers",)),
    "generators": ("generators", ("generators",)),
    "scorers": ("scorers and human scores", ("scorers", "people")),
    "labels": ("passage labels", ("annotations", "agreement")),
    "questions": ("additional analyses", ("interventions", "prediction", "claims", "acu")),
}
"""Page → its subject, and the keys on it; the empty one stands for all plain keys. The last page has all others."""

Row = tuple[str, str, str, str]


def reference() -> str:
    """Markdown: a section for the plain keys and one per part of the configuration, with a table per kind of entry."""
    return "\n".join(_sections(load_schema()).values())


def pages() -> dict[Path, str]:
    """Return the pages of keys by their files."""
    sections, last = _sections(load_schema()), list(PAGES)[-1]
    mark = START.replace("Below: w", "W")
    made = {}
    for name, (subject, keys) in PAGES.items():
        own = [key for key in keys if key in sections]
        own += [key for key in sections if name == last and _page_of(key) == last and key not in own]
        text = "\n".join(sections[key] for key in own).replace("(../docs/", "(../")
        made[FOLDER / f"keys-{name}.md"] = f"# Keys for {subject}\n\n{mark}\n\n{text}"
    return made


def schema_text() -> str:
    """Return the JSON Schema of a whole configuration."""
    return json.dumps(load_schema(), indent=1, ensure_ascii=False) + "\n"


def index(text: str) -> str:
    """Replace the list of keys in ``text``, config/README.md."""
    introduction, mark, _ = text.partition(START)
    if not mark:
        raise ValueError(f"{INDEX}: found no line {START!r}; expected it above the list of keys")
    schema = load_schema()
    sections, rows = _sections(schema), []
    for key, sub in sorted(schema["properties"].items()):
        section = key if key in sections else ""
        place = f"../docs/reference/keys-{_page_of(section)}.md#{section or 'top-level'}"
        about, _, _ = sub["description"].partition(". ")
        rows.append(f"| [`{key}`]({place}) | {about.removesuffix('.')}. |")
    return "\n".join([f"{introduction}{START}\n", "| key | meaning |", "|---|---|", *rows, ""])


def _page_of(section: str) -> str:
    return next((page for page, (_, keys) in PAGES.items() if section in keys), list(PAGES)[-1])


def _sections(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return Markdown by key, for each key with keys of its own; for the empty one, a table of all plain keys."""
    parts = {key: _parts(sub) for key, sub in schema["properties"].items()}
    plain = {key: sub for key, sub in schema["properties"].items() if not parts[key]}
    sections = {"": "## Top level\n\n" + _table(_rows({**schema, "properties": plain}))}
    for key, tables in parts.items():
        if tables:
            made = [f"## `{key}`\n\n{schema['properties'][key]['description']}\n"]
            for title, part in tables:
                made += [f"### {title}\n"] if title else []
                made.append(_table(_rows(part)))
            sections[key] = "\n".join(made)
    return sections


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
    INDEX.write_text(index(INDEX.read_text(encoding="utf-8")), encoding="utf-8")
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
