"""Prompt templates: YAML data with named placeholders, checked when read; zero-shot and k-shot parts in one file."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ragrelay.errors import InputError, one_of
from ragrelay.io.yaml_keys import read_yaml

PLACEHOLDERS = {"zeroshot": {"query"}, "kshot": {"query", "contexts"}, "context": {"i", "text"}}
SYSTEM = ("system_zeroshot", "system_kshot")
OPTIONAL_KEYS = {"source", *SYSTEM}


@dataclass(frozen=True)
class Template:
    """A prompt template: zeroshot takes {query}; kshot takes {query} and {contexts}; context takes {i} and {text}.

    ``system_zeroshot`` and ``system_kshot`` are the system part of a chat, without placeholders; empty where there is
    none.
    """

    zeroshot: str
    kshot: str
    context: str
    system_zeroshot: str = ""
    system_kshot: str = ""

    def system(self, passages: Sequence[str]) -> str:
        """The system part that goes with ``render`` of the same passages."""
        return self.system_kshot if passages else self.system_zeroshot

    def render(self, query: str, passages: Sequence[str]) -> str:
        """The prompt for ``query`` with ``passages`` in prompt order; zero-shot where there is none."""
        if not passages:
            return self.zeroshot.format(query=query)
        contexts = "".join(self.context.format(i=i, text=text) for i, text in enumerate(passages, start=1))
        return self.kshot.format(query=query, contexts=contexts)


def load_template(path: str | Path) -> Template:
    """Read a template file.

    Raises InputError where the file or a part is missing, a part is unknown, or a placeholder is not one of its part's.
    """
    path = Path(path)
    data = template_data(path, list(PLACEHOLDERS), sorted(OPTIONAL_KEYS))
    for part, names in PLACEHOLDERS.items():
        check_part(path, part, data.get(part), names)
    given = [part for part in SYSTEM if part in data]
    if len(given) == 1:
        raise InputError(path, f"key {given[0]!r} alone", " and ".join(SYSTEM) + ", or neither")
    for part in given:
        check_part(path, part, data[part], set())
    # Formatted without values, so that {{ is a brace in a system part as it is in the others.
    return Template(**{part: data[part] for part in PLACEHOLDERS}, **{part: data[part].format() for part in given})


def template_data(path: Path, parts: Sequence[str], optional: Sequence[str]) -> dict[str, Any]:
    """The mapping in a template file; raises InputError where it is none or has a key beside ``parts`` and others."""
    if not path.is_file():
        raise InputError(path, "no such file", "a prompt template")
    try:
        data = read_yaml(path)
    except yaml.YAMLError as error:
        raise InputError(path, f"invalid YAML ({str(error).splitlines()[0]})", "a mapping") from None
    if not isinstance(data, dict):
        raise InputError(path, type(data).__name__, "a mapping with " + ", ".join(parts))
    unknown = set(data) - {*parts, *optional}
    if unknown:
        found = f"unknown key {', '.join(sorted(map(repr, unknown)))}"
        raise InputError(path, found, one_of([*parts, *optional], *unknown))
    return data


def check_part(path: Path, part: str, text: object, names: set[str]) -> None:
    """Raise InputError where a part is no text, or its placeholders are others than ``names`` (i may be absent)."""
    allowed = ", ".join(f"{{{n}}}" for n in sorted(names)) or "no placeholder"
    if not isinstance(text, str):
        raise InputError(f"{path}, key {part!r}", "no text", f"text with {allowed}")
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"{path}, key {part!r}", str(error), "placeholders in {}; write {{ for a brace") from None
    found = {field for _, field, _, _ in fields if field is not None}
    plain = all(not spec and not conversion for _, field, spec, conversion in fields if field is not None)
    if not found <= names or not plain:
        raise InputError(
            f"{path}, key {part!r}",
            "placeholder " + ", ".join(f"{{{n}}}" for n in sorted(found - names) or sorted(found)),
            f"{allowed} only" if names else allowed,
        )
    missing = found ^ names - {"i"}
    if missing - {"i"}:
        raise InputError(
            f"{path}, key {part!r}", "no placeholder " + ", ".join(f"{{{n}}}" for n in sorted(missing)), allowed
        )
