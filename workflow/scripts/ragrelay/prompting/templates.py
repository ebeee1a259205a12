"""Read and check prompt templates, which are YAML files with placeholders.

A template may instead name a user's function that builds the prompt.
"""

import functools
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ragrelay.base.errors import InputError, one_of, type_name
from ragrelay.base.io.yaml_keys import read_yaml, yaml_fault
from ragrelay.base.user_code import check_function, code_hashes, function_named

PLACEHOLDERS = {"zeroshot": {"query"}, "kshot": {"query", "contexts"}, "context": {"i", "text"}}
SYSTEM = ("system_zeroshot", "system_kshot")
SWAPPED = "swapped"
OPTIONAL_KEYS = {"source", SWAPPED, *SYSTEM}
BUILDER = "builder"


@dataclass(frozen=True)
class Template:
    """A prompt template. Placeholders: {query} in zeroshot; {query} and {contexts} in kshot; {i} and {text} in context.

    ``system_zeroshot`` and ``system_kshot`` are the chat's system messages, without placeholders. ``swapped``, used
    only to check judges, is kshot with its sections in a different order. ``swapped`` and the system messages may be
    empty. ``builder`` names a function (module:function) that builds prompts; zeroshot, kshot and context are then
    empty, and ``code`` is the hash of the function's module.
    """

    zeroshot: str = ""
    kshot: str = ""
    context: str = ""
    system_zeroshot: str = ""
    system_kshot: str = ""
    builder: str = ""
    code: str = ""
    swapped: str = ""

    def system(self, passages: Sequence[str]) -> str:
        """Return the system message for a prompt with ``passages`` or, if there are none, for a zero-shot prompt."""
        return self.system_kshot if passages else self.system_zeroshot

    def render(self, query: str, passages: Sequence[str]) -> str:
        """Build the prompt from ``query`` and ``passages`` (in prompt order) or, without passages, a zero-shot prompt.

        Raises InputError if the template's function doesn't return a string.
        """
        if self.builder:
            text = _builder(self.builder)(query, list(passages))
            if not isinstance(text, str):
                raise InputError(f"prompt builder {self.builder}", f"a value of type {type(text).__name__}", "a text")
            return text
        if not passages:
            return self.zeroshot.format(query=query)
        contexts = "".join(self.context.format(i=i, text=text) for i, text in enumerate(passages, start=1))
        return self.kshot.format(query=query, contexts=contexts)


_builder: Callable[[str], Callable[..., Any]] = functools.cache(function_named)


def load_template(path: str | Path, folder: Path = Path()) -> Template:
    """Read a template file. A function's module is searched for in ``folder``, then among installed packages.

    Raises InputError if the file, a part or the function is missing, or if a part or placeholder is unknown.
    """
    path = Path(path)
    data = template_data(path, list(PLACEHOLDERS), sorted({*OPTIONAL_KEYS, BUILDER}))
    own = {}
    if BUILDER in data:
        if parts_too := [part for part in (*PLACEHOLDERS, SWAPPED) if part in data]:
            raise InputError(path, f"keys {parts_too[0]!r} and {BUILDER!r}", "only one of these keys")
        check_function(f"{path}, key {BUILDER!r}", str(data[BUILDER]), folder)
        own = {BUILDER: data[BUILDER], **code_hashes({"code": data[BUILDER]}, folder)}
    for part, names in PLACEHOLDERS.items() if not own else ():
        check_part(path, part, data.get(part), names)
    if SWAPPED in data:
        check_part(path, SWAPPED, data[SWAPPED], PLACEHOLDERS["kshot"])
    system_parts = [part for part in SYSTEM if part in data]
    if len(system_parts) == 1:
        raise InputError(path, f"only key {system_parts[0]!r}", " and ".join(SYSTEM) + ", or neither")
    for part in system_parts:
        check_part(path, part, data[part], set())
    # Format without values, so that {{ stands for a brace in system messages too.
    parts = own or {part: data[part] for part in (*PLACEHOLDERS, SWAPPED) if part in data}
    return Template(**parts, **{part: data[part].format() for part in system_parts})


def template_data(path: Path, parts: Sequence[str], optional: Sequence[str]) -> dict[str, Any]:
    """Return a template file's content. Raises InputError unless the file contains a mapping with only known keys."""
    if not path.is_file():
        raise InputError(path, "no such file", "a prompt template")
    try:
        data = read_yaml(path)
    except yaml.YAMLError as error:
        raise InputError(path, yaml_fault(error), "a mapping") from None
    if not isinstance(data, dict):
        raise InputError(path, type_name(data), "a mapping with " + ", ".join(parts))
    unknown = set(data) - {*parts, *optional}
    if unknown:
        found = f"unknown key {', '.join(sorted(map(repr, unknown)))}"
        raise InputError(path, found, one_of([*parts, *optional], *unknown))
    return data


def check_part(path: Path, part: str, text: object, names: set[str]) -> None:
    """Raise InputError unless ``text`` is a string with the placeholders ``names`` ({i} is optional) and no others."""
    allowed = " and ".join(", ".join(f"{{{n}}}" for n in sorted(names)).rsplit(", ", 1)) or "no placeholder"
    if not isinstance(text, str):
        raise InputError(f"{path}, key {part!r}", "no text", f"text with {allowed}")
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"{path}, key {part!r}", str(error), "placeholders in {}; write {{ for a brace") from None
    placeholders = {field for _, field, _, _ in fields if field is not None}
    plain = all(not spec and not conversion for _, field, spec, conversion in fields if field is not None)
    if not placeholders <= names or not plain:
        raise InputError(
            f"{path}, key {part!r}",
            "placeholder " + ", ".join(f"{{{n}}}" for n in sorted(placeholders - names) or sorted(placeholders)),
            f"only {allowed}" if names else allowed,
        )
    missing = placeholders ^ names - {"i"}
    if missing - {"i"}:
        raise InputError(
            f"{path}, key {part!r}", "a template without " + " and ".join(f"{{{n}}}" for n in sorted(missing)), allowed
        )
