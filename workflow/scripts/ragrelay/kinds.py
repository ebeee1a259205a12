"""A kind of catalogue entry is one class in one file: its fields are the entry's keys, its methods what it does.

A sort of entries (retrievers, scorers, …) is a base class and a package in which every module has one kind and is named
as the kind is. Schema, defaults, key reference, checks, inputs and downloads all ask the class, so that a new kind is a
new module there and nothing else. A module of a kind imports what is heavy inside methods: all kinds are imported when
Snakemake starts.
"""

import functools
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from ragrelay.errors import InputError, one_of
from ragrelay.own_code import check_function, code_hashes

Name = Annotated[str, Field(json_schema_extra={"shared": "name"})]
"""The name of another entry, or of a template."""
Function = Annotated[str, Field(json_schema_extra={"shared": "function"})]
"""A function of the user's own, as ``module:function``: checked, and hashed into the definition's ``code``."""
Text = Annotated[str, Field(min_length=1)]
File = Annotated[str, Field(min_length=1, json_schema_extra={"format": "path"})]
"""A path of the user's."""
DatasetFile = Annotated[str, Field(min_length=1, json_schema_extra={"format": "path of a dataset"})]
"""A path with the dataset's name in the place of ``{dataset}``."""
Model = Annotated[str, Field(min_length=1, json_schema_extra={"format": "model"})]
"""A local folder or a hub id."""


class CheckedStudy(Protocol):
    """What a kind's check may ask of the study that it is used in."""

    folder: Path
    config: dict[str, Any]
    grid: dict[str, list[Any]]

    def check_judge(self, place: str, name: str, prompt: str) -> None:
        """Raise InputError where the generator ``name`` can't be asked by the template ``prompt`` for labels."""

    def check_answer_judge(self, place: str, scorer: Any) -> None:
        """Raise InputError where the generator of ``scorer``, a JudgedScorer, can't be asked by its template."""

    def check_nugget_writer(self, place: str, name: str, prompt: str, tokens: int) -> None:
        """Raise InputError where the generator ``name`` can't write lists of nuggets by the template ``prompt``.

        ``tokens``: of a list, before it is written again.
        """

    def asked_generators(self) -> list[str]:
        """The grid's generators that have an engine, which answers prompts."""

    def check_gold(self, expected: str) -> None:
        """Raise InputError where one of the grid's datasets has no gold answers; ``expected`` says who reads them."""


class Download(NamedTuple):
    """A repository of a hub that an entry's ``key`` names; ``part`` is `model`, `tokenizer` or `adapter`."""

    key: str
    name: str
    revision: str | None = None
    part: str = "model"


class Kind(BaseModel):
    """What all kinds have. The first paragraph of a subclass's docstring describes the kind to users.

    A field without default is a required key; one with the default None may be absent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: SkipJsonSchema[dict[str, str]] = {}
    """Hashes of the modules that its functions are in, by key; no key of the configuration."""

    @classmethod
    def completed(cls, definition: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """``definition`` with the defaults that depend on its other keys, and with ``code``."""
        named = {key: definition[key] for key in cls.functions() if key in definition}
        return {**definition, **({"code": code_hashes(named, folder)} if cls.functions() else {})}

    def check(self, place: str, study: CheckedStudy) -> None:
        """Raise InputError for what can't work in ``study``, as far as the schema can't say it.

        ``place``: how messages name the entry, an open quotation mark in it; a key follows as ``.key'``.
        """
        for key in self.functions():
            if (name := getattr(self, key)) is not None:
                check_function(f"{place}.{key}'", name, study.folder)

    def downloads(self) -> Iterator[Download]:
        """What it names that may be on a hub."""
        yield from ()

    @classmethod
    def functions(cls) -> list[str]:
        """Keys that name functions of the user's own."""
        properties = cls.properties()
        return [key for key, sub in properties.items() if sub.get("$ref") == "#/$defs/function"]

    @classmethod
    @functools.cache
    def properties(cls) -> dict[str, Any]:
        """JSON Schema of each key."""
        return {key: _without_null(sub) for key, sub in cls.model_json_schema()["properties"].items()}

    @classmethod
    def description(cls) -> str:
        """The kind's description for users."""
        return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())

    @classmethod
    def branch(cls, selector: str, name: str) -> dict[str, Any]:
        """JSON Schema of the whole entry, whose key ``selector`` says ``name``."""
        required = _required(cls)
        properties = dict(sorted(cls.properties().items(), key=lambda item: item[0] not in required))
        extra = cls.model_config.get("json_schema_extra") or {}
        return {
            "title": name,
            "type": "object",
            "additionalProperties": False,
            "required": [selector, *required],
            "properties": {selector: {"description": cls.description(), "const": name}, **properties},
            **(extra if isinstance(extra, dict) else {}),
        }


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """pydantic's schema of a field as ours has it: no titles, an absent key instead of null, shared parts by name."""
    found = {key: sub for key, sub in schema.items() if key != "title"}
    if "anyOf" in found:
        given = [sub for sub in found.pop("anyOf") if sub != {"type": "null"}]
        alternatives = given[0] if len(given) == 1 else {"anyOf": [_without_null(sub) for sub in given]}
        found = {**alternatives, **{key: sub for key, sub in found.items() if key != "default" or sub is not None}}
    if "shared" in found:
        shared = found.pop("shared")
        found = {"$ref": f"#/$defs/{shared}", **{key: found[key] for key in ("description", "default") if key in found}}
    if "enum" in found:  # one message for a value of another type too
        found.pop("type")
    if "items" in found:
        found["items"] = _without_null(found["items"])
    return found


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """The kinds of one sort: subclasses of ``base``, one a module of ``package``, named by the key ``selector``."""

    def __init__(self, base: type[K], package: str, selector: str = "kind") -> None:
        self.base, self.package, self.selector = base, package, selector

    def names(self) -> list[str]:
        """All kinds, sorted."""
        folders = importlib.import_module(self.package).__path__
        return sorted(module.name for module in pkgutil.iter_modules(folders))

    def module(self, definition: Mapping[str, Any]) -> str:
        """The module of the kind of ``definition``."""
        return f"{self.package}.{definition[self.selector]}"

    def __getitem__(self, name: str) -> type[K]:
        module = sys.modules.get(f"{self.package}.{name}")  # looked for among the files once
        if not module:
            if name not in self.names():
                raise InputError(self.selector, repr(name), one_of(self.names(), name))
            module = importlib.import_module(f"{self.package}.{name}")
        here = [found for found in vars(module).values() if getattr(found, "__module__", "") == module.__name__]
        (kind,) = (found for found in here if isinstance(found, type) and issubclass(found, self.base))
        return kind

    def of(self, definition: Mapping[str, Any]) -> K:
        """The kind that ``definition`` (an entry of the catalogue) asks for, with its keys."""
        keys = {key: value for key, value in definition.items() if key != self.selector}
        return self[definition[self.selector]](**keys)

    def completed(self, definition: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """``definition`` with the defaults that depend on its other keys, keys in sorted order.

        Functions of the user's own are looked up in ``folder``.
        """
        return dict(sorted(self[definition[self.selector]].completed(definition, folder).items()))

    def choices(self, lead: str) -> dict[str, Any]:
        """JSON Schema of a key that names a kind; the description, of each kind, begins with ``lead``."""
        told = "; ".join(f"`{name}` {self[name].description().rstrip('.')}" for name in self.names())
        return {"description": f"{lead}{told}.", "enum": self.names()}

    def schema(self) -> dict[str, Any]:
        """JSON Schema of an entry."""
        return {"oneOf": [self[name].branch(self.selector, name) for name in self.names()]}


class MergedKinds(Kinds[K]):
    """Kinds that share one set of keys: an entry has those of all, with their defaults, and heeds those of its own.

    So an overlay may change an entry's kind, ``default`` where none is said, and leave the other keys.
    """

    def __init__(self, base: type[K], package: str, selector: str, default: str) -> None:
        super().__init__(base, package, selector)
        self.default = default

    def of(self, definition: Mapping[str, Any]) -> K:
        """The kind that ``definition`` asks for, with those keys that it heeds."""
        kind = self[definition[self.selector]]
        return kind(**{key: value for key, value in definition.items() if key in kind.model_fields})

    def check_given(self, place: str, given: Mapping[str, Any]) -> None:
        """Raise InputError for a key of ``given``, an entry without its defaults, that only other kinds heed."""
        own = self[given.get(self.selector, self.default)].model_fields
        for key in given:
            if key not in own and key != self.selector:
                heed = [name for name in self.names() if key in self[name].model_fields]
                raise InputError(f"{place}.{key}'", "a key without effect", f"{self.selector}: {' or '.join(heed)}")

    def own(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """``definition`` without the keys that its kind doesn't heed."""
        heeded = {self.selector, *self[definition[self.selector]].model_fields}
        return {key: value for key, value in definition.items() if key in heeded}

    def check_required(self, place: str, given: Mapping[str, Any]) -> None:
        """Raise InputError where ``given``, an entry without its defaults, lacks a key that its kind requires."""
        kind = given.get(self.selector, self.default)
        if missing := [key for key in _required(self[kind]) if key not in given]:
            raise InputError(place, f"no key {', '.join(map(repr, missing))}", "it to be given")

    def schema(self) -> dict[str, Any]:
        """JSON Schema of an entry: one object with the keys of all kinds; check_required has what only some require."""
        properties = {key: dict(sub) for name in self.names() for key, sub in self[name].properties().items()}
        required = {name: _required(self[name]) for name in self.names()}
        common = [key for key in required[self.default] if all(key in keys for keys in required.values())]
        for key in dict.fromkeys(key for keys in required.values() for key in keys if key not in common):
            kinds = " and ".join(f"`{self.selector}: {name}`" for name, keys in required.items() if key in keys)
            properties[key]["description"] += f" Required with {kinds}."
        return {
            "type": "object",
            "additionalProperties": False,
            "required": common,
            "properties": {self.selector: {**self.choices(""), "default": self.default}, **properties},
        }


def _required(kind: type[Kind]) -> list[str]:
    return [key for key, field in kind.model_fields.items() if field.is_required()]
