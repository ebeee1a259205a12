"""A kind of catalogue entry is one class in one file: its fields are the entry's keys, its methods what it does.

A sort of entries (retrievers, scorers, …) is a base class and a package in which every module has one kind and is named
as the kind is. Schema, defaults, key reference, checks, inputs and downloads all ask the class, so that a new kind is a
new module there and nothing else. The kinds of a configuration's entries are imported when Snakemake starts: a module
of a kind imports what is heavy inside methods.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from pydantic import AfterValidator, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from ragrelay.errors import InputError, one_of
from ragrelay.grid import GridSettings
from ragrelay.own_code import check_function, code_hashes
from ragrelay.settings import FUNCTION, JsonSchema, RefusedError, Settings, check_keys


class CheckedStudy:
    """A study as its kinds check it: what it selects and defines, and where its files are."""

    def __init__(self, config: Mapping[str, Any], folder: str | Path, prompts: Sequence[str | Path]) -> None:
        self.given = config
        """The configuration as users wrote it."""
        self.folder = Path(folder)
        """Where relative paths are looked up."""
        self.prompts = [Path(path) for path in prompts]
        """Folders of templates, of which the first that has one wins."""
        self.config: dict[str, Any] = {}
        """The configuration with defaults."""
        self.grid: GridSettings
        """Its grid, in which ``permutations`` are written out."""
        self.asked: list[str] = []
        """The grid's generators that have an engine, which answers prompts."""

    def template_path(self, name: str, folder: str | None = None) -> Path:
        """File of the template ``name``, in a folder of prompts or one of the name ``folder`` next to it.

        In the first of these folders where none has it.
        """
        paths = [(path.parent / folder if folder else path) / f"{name}.yaml" for path in self.prompts]
        return next((path for path in paths if path.is_file()), paths[0])


class Download(NamedTuple):
    """A repository of a hub that an entry's ``key`` names; ``part`` is `model`, `tokenizer` or `adapter`."""

    key: str
    name: str
    revision: str | None = None
    part: str = "model"


class Kind(Settings):
    """Base class of all kinds of catalogue entries."""

    code: SkipJsonSchema[dict[str, str]] = Field(default={})
    """Hashes of the modules that its functions are in, by key; no key of the configuration."""

    @classmethod
    def known(cls) -> list[str]:
        """Return the keys that users may write, without the one that names the kind."""
        return [key for key in super().known() if key != "code"]

    @classmethod
    def completed(cls, definition: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """``definition`` with the defaults that depend on its other keys, and with ``code``."""
        named = {key: definition[key] for key in cls.functions() if key in definition}
        return {**definition, **({"code": code_hashes(named, folder)} if cls.functions() else {})}

    def check(self, place: str, study: CheckedStudy) -> None:
        """Raise InputError for what can't work in ``study``, as far as the types of the keys can't say it.

        ``place``: how messages name the entry, an open quotation mark in it; a key follows as ``.key'``.
        """
        for key in self.functions():
            if (name := getattr(self, key)) is not None:
                check_function(f"{place}.{key}'", name, study.folder)

    @classmethod
    def check_written(cls, given: Mapping[str, Any]) -> None:
        """Raise RefusedError for an entry that users may not write, though a job may get the like in its params."""

    def downloads(self) -> Iterator[Download]:
        """Yield what it names that may be on a hub."""
        yield from ()

    @classmethod
    def functions(cls) -> list[str]:
        """Keys that name functions of the user's own."""
        fields = cls.model_fields.items()
        return [
            key for key, field in fields if _is_function(field) or any(map(_is_function, get_args(field.annotation)))
        ]

    @classmethod
    def branch(cls, selector: str, name: str) -> JsonSchema:
        """JSON Schema of the whole entry, whose key ``selector`` says ``name``."""
        required = cls.required()
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


def _is_function(annotated: Any) -> bool:
    return FUNCTION in (*getattr(annotated, "metadata", ()), *getattr(annotated, "__metadata__", ()))


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """The kinds of one sort: subclasses of ``base``, one a module of ``package``, named by the key ``selector``.

    As metadata of a type, it marks a definition, which is validated by its kind.
    """

    def __init__(self, base: type[K], package: str, selector: str = "kind") -> None:
        self.base, self.package, self.selector = base, package, selector

    def names(self) -> list[str]:
        """Return the names of all kinds, sorted."""
        folders = importlib.import_module(self.package).__path__
        return sorted(module.name for module in pkgutil.iter_modules(folders))

    def module(self, definition: Mapping[str, Any]) -> str:
        """Return the module of the kind of ``definition``."""
        return f"{self.package}.{definition[self.selector]}"

    def __getitem__(self, name: str) -> type[K]:
        module = sys.modules.get(f"{self.package}.{name}")  # looked for among the files once
        if not module:
            if name not in self.names():
                raise InputError(self.selector, repr(name), one_of(self.names(), name))
            module = importlib.import_module(f"{self.package}.{name}")
        here = [member for member in vars(module).values() if getattr(member, "__module__", "") == module.__name__]
        (kind,) = (member for member in here if isinstance(member, type) and issubclass(member, self.base))
        return kind

    def of(self, definition: Mapping[str, Any]) -> K:
        """Return the kind that ``definition`` (an entry of the catalogue) asks for, with its keys."""
        return self._made({key: value for key, value in definition.items() if key != self.selector}, definition)

    def _made(self, keys: Mapping[str, Any], definition: Mapping[str, Any]) -> K:
        """Return the kind with ``keys``, of which None is absent; only what users write is held to exact types."""
        given = {key: value for key, value in keys.items() if value is not None}
        return self[definition[self.selector]].model_validate(given, strict=False)

    def completed(self, definition: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """``definition`` with the defaults that depend on its other keys, keys in sorted order.

        Functions of the user's own are looked up in ``folder``.
        """
        return dict(sorted(self[definition[self.selector]].completed(definition, folder).items()))

    def validated(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return ``given``, an entry as users write it, with defaults and its keys in sorted order."""
        check_keys(given, given, [self.selector])
        name = self._named(given[self.selector])
        kind = self[name]
        check_keys(given, [self.selector, *kind.known()], kind.required())
        kind.check_written(given)
        return self._with_defaults(kind, name, given)

    def _named(self, name: Any) -> str:
        if name not in (names := self.names()):
            raise RefusedError(repr(name), one_of(names, name), self.selector)
        return str(name)

    def _with_defaults(self, keys: type[Settings], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        values = keys.model_validate({key: value for key, value in given.items() if key != self.selector})
        return dict(sorted({**values.mapping(), self.selector: name}.items()))

    def choices(self, lead: str) -> JsonSchema:
        """JSON Schema of a key that names a kind; the description, of each kind, begins with ``lead``."""
        told = "; ".join(f"`{name}` {self[name].description().rstrip('.')}" for name in self.names())
        return {"description": f"{lead}{told}.", "enum": self.names()}

    def schema(self) -> JsonSchema:
        """JSON Schema of an entry."""
        return {"oneOf": [self[name].branch(self.selector, name) for name in self.names()]}

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return AfterValidator(self.validated).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> JsonSchema:
        return {**self.schema(), "finished": True}


class MergedKinds(Kinds[K]):
    """Kinds that share one set of keys: an entry has those of all, with their defaults, and heeds those of its own.

    So an overlay may change an entry's kind, ``default`` where none is said, and leave the other keys.
    """

    def __init__(self, base: type[K], package: str, selector: str, default: str) -> None:
        super().__init__(base, package, selector)
        self.default = default

    def of(self, definition: Mapping[str, Any]) -> K:
        """Return the kind that ``definition`` asks for, with those keys that it heeds."""
        kind = self[definition[self.selector]]
        return self._made({key: value for key, value in definition.items() if key in kind.model_fields}, definition)

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

    def validated(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return ``given``, an entry as users write it, with the defaults of all kinds and its keys in sorted order."""
        merged = _merged(tuple(self[name] for name in self.names()))
        check_keys(given, [self.selector, *merged.known()], [])
        name = self._named(given.get(self.selector, self.default))
        check_keys(given, given, self[name].required())
        return self._with_defaults(merged, name, given)

    def schema(self) -> JsonSchema:
        """JSON Schema of an entry: one object with the keys of all kinds; its text says which only some require."""
        properties = {key: dict(sub) for name in self.names() for key, sub in self[name].properties().items()}
        required = {name: self[name].required() for name in self.names()}
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


@cache
def _merged(kinds: tuple[type[Kind], ...]) -> type[Settings]:
    """Return the keys of all ``kinds``, of which those that some kinds require may be absent."""
    fields = {key: copy(kind.model_fields[key]) for kind in kinds for key in kind.known()}
    for field in fields.values():
        if field.is_required():
            field.default = None
    types: dict[str, Any] = {key: (field.annotation, field) for key, field in fields.items()}
    return create_model("MergedKinds", __base__=Settings, **types)
