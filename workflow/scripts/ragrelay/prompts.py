"""Prompt templates: YAML data with named placeholders, checked when read; zero-shot and k-shot parts in one file."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from ragrelay.config.duplicates import check_keys_once
from ragrelay.errors import InputError, one_of

PLACEHOLDERS = {"zeroshot": {"query"}, "kshot": {"query", "contexts"}, "context": {"i", "text"}}
OPTIONAL_KEYS = {"source"}


@dataclass(frozen=True)
class Template:
    """A prompt template: zeroshot takes {query}; kshot takes {query} and {contexts}; context takes {i} and {text}."""

    zeroshot: str
    kshot: str
    context: str

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
    if not path.is_file():
        raise InputError(path, "no such file", "a prompt template")
    try:
        data = yaml.safe_load(path.read_bytes())
    except yaml.YAMLError as error:
        raise InputError(path, f"invalid YAML ({str(error).splitlines()[0]})", "a mapping") from None
    check_keys_once(path)
    if not isinstance(data, dict):
        raise InputError(path, type(data).__name__, "a mapping with " + ", ".join(PLACEHOLDERS))
    unknown = set(data) - set(PLACEHOLDERS) - OPTIONAL_KEYS
    if unknown:
        found = f"unknown key {', '.join(sorted(map(repr, unknown)))}"
        raise InputError(path, found, one_of([*PLACEHOLDERS, *sorted(OPTIONAL_KEYS)], *unknown))
    for part, names in PLACEHOLDERS.items():
        _check_part(path, part, data.get(part), names)
    return Template(**{part: data[part] for part in PLACEHOLDERS})


def _check_part(path: Path, part: str, text: object, names: set[str]) -> None:
    if not isinstance(text, str):
        raise InputError(
            f"{path}, key {part!r}", "no text", "text with " + ", ".join(f"{{{n}}}" for n in sorted(names))
        )
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"{path}, key {part!r}", str(error), "placeholders in {}; write {{ for a brace") from None
    found = {field for _, field, _, _ in fields if field is not None}
    plain = all(not spec and not conversion for _, field, spec, conversion in fields if field is not None)
    allowed = ", ".join(f"{{{n}}}" for n in sorted(names))
    if not found <= names or not plain:
        raise InputError(
            f"{path}, key {part!r}",
            "placeholder " + ", ".join(f"{{{n}}}" for n in sorted(found - names) or sorted(found)),
            f"{allowed} only",
        )
    missing = found ^ names - {"i"}
    if missing - {"i"}:
        raise InputError(
            f"{path}, key {part!r}", "no placeholder " + ", ".join(f"{{{n}}}" for n in sorted(missing)), allowed
        )
