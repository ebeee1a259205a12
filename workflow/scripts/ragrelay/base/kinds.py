"""Define kinds of catalogue entries. A kind is a class in its own file, with the entry's keys as fields.

Each catalogue section (retrievers, scorers, …) has a base class and a package, in which each module defines one kind.
The module's name is the kind's name. Other packages add kinds through entry points (see extensions). The schema,
defaults, key reference, checks, inputs and downloads are all derived from the class, so to add a kind, you only add a
module. Because Snakemake imports the kinds in a configuration at startup, kinds import heavy libraries inside methods.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic.json_schema import CoreSchema, SkipJsonSchema

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.extensions import classes_of, extensions, import_extension, source_hash
from ragrelay.base.grid import GridSettings
from ragrelay.base.settings import FUNCTION, JsonSchema, RefusedError, Settings, check_keys
from ragrelay.base.user_code import check_function, code_hashes


class CheckedStudy:
    """A study's configuration, grid and folders, for use in checks.

    Args:
        config: The configuration as the user wrote it.
        folder: The base folder for relative paths.
        prompts: Folders to search for prompt templates, in this order.
    """

    def __init__(self, config: Mapping[str, Any], folder: str | Path, prompts: Sequence[str | Path]) -> None:
        self.given = config
        """The configuration as users wrote it."""
        self.folder = Path(folder)
        """The folder that relative paths are relative to."""
        self.prompts = [Path(path) for path in prompts]
        """Folders with prompt templates."""
        self.config: dict[str, Any] = {}
        """The configuration with all defaults."""
        self.grid: GridSettings
        """The grid, in which ``permutations`` is replaced by the orderings that it stands for."""
        self.asked: list[str] = []
        """The grid's generators that have an engine, as opposed to imported answers."""

    def template_path(self, name: str, folder: str | None = None) -> Path:
        """Find a prompt template's file.

        Args:
            name: The template's name, without ``.yaml``.
            folder: If given, search the folders with this name next to those in ``prompts``, instead of ``prompts``.

        Returns:
            The template's path in the first folder that contains the template. If no folder contains it, a path in the
            first folder.
        """
        paths = [(path.parent / folder if folder else path) / f"{name}.yaml" for path in self.prompts]
        return next((path for path in paths if path.is_file()), paths[0])


class Download(NamedTuple):
    """A hub repository that an entry names under ``key``. ``part`` is `model`, `tokenizer` or `adapter`."""

    key: str
    name: str
    revision: str | None = None
    part: str = "model"


class Kind(Settings):
    """Base class for all kinds of catalogue entries."""

    code: SkipJsonSchema[dict[str, str]] = Field(default={})
    """Hashes of the modules with the user's functions, by key, plus ``outside_code``. Users can't set ``code``."""

    @classmethod
    def known(cls) -> list[str]:
        """List all keys that an entry may have, except the key that names the kind.

        Returns:
            The keys, in the order in which the fields are declared.
        """
        return [key for key in super().known() if key != "code"]

    @classmethod
    def completed(cls, definition: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Add the key ``code`` to an entry, along with defaults that depend on other keys.

        Args:
            definition: The entry, with the defaults that don't depend on other keys.
            folder: The folder in which to look for modules with users' functions.

        Returns:
            The completed entry. ``code`` is only added if the kind has keys for functions or is from another package.
        """
        named = {key: definition[key] for key in cls.functions() if key in definition}
        code = code_hashes(named, folder) | cls.outside_code()
        return {**definition, **({"code": code} if cls.functions() or code else {})}

    @classmethod
    def outside_code(cls) -> dict[str, str]:
        """Hash the kind's source code if the kind is from another package.

        Cached results depend on this hash, because authors of other packages may forget to increase version numbers.

        Returns:
            A mapping with the hash under the key ``kind``; empty for ragrelay's own kinds.
        """
        return {} if cls.__module__.startswith("ragrelay.") else {"kind": source_hash(cls.__module__)}

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the entry can be used in this study. The types of the values have already been checked.

        Args:
            place: The start of messages, such as ``config key 'scorers.rouge``, to which you append ``.<key>'``.
            study: The study that uses the entry.

        Raises:
            InputError: The entry can't be used in this study.
        """
        for key in self.functions():
            if (name := getattr(self, key)) is not None:
                check_function(f"{place}.{key}'", name, study.folder)

    @classmethod
    def check_written(cls, given: Mapping[str, object]) -> None:
        """Reject an entry that is valid in a job's parameters but not in a configuration.

        Args:
            given: The entry as the user wrote it.

        Raises:
            RefusedError: The entry isn't allowed in a configuration.
        """

    def downloads(self) -> Iterator[Download]:
        """List the models and tokenizers to download.

        Returns:
            One Download per repository.
        """
        yield from ()

    @classmethod
    def functions(cls) -> list[str]:
        """List the keys that name users' functions.

        Returns:
            The keys, in the order in which the fields are declared.
        """
        fields = cls.model_fields.items()
        return [
            key for key, field in fields if _is_function(field) or any(map(_is_function, get_args(field.annotation)))
        ]

    @classmethod
    def branch(cls, selector: str, name: str) -> JsonSchema:
        """Return the JSON Schema for entries of this kind.

        Args:
            selector: The key that names the kind, such as ``kind`` or ``source``.
            name: The kind's name.

        Returns:
            The schema for the complete entry.
        """
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


def _is_function(annotated: object) -> bool:
    return FUNCTION in (*getattr(annotated, "metadata", ()), *getattr(annotated, "__metadata__", ()))


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """A catalogue section's kinds: subclasses of ``base``, one per module in ``package``.

    The key ``selector`` names an entry's kind. If an instance is in a type's ``Annotated`` metadata, pydantic validates
    each entry with the class of its kind.
    """

    def __init__(self, base: type[K], package: str, selector: str = "kind") -> None:
        self.base, self.package, self.selector = base, package, selector

    def names(self) -> list[str]:
        """Return the sorted names of all kinds."""
        folders = importlib.import_module(self.package).__path__
        own, others = {module.name for module in pkgutil.iter_modules(folders)}, extensions(self.base.__name__)
        if twice := sorted(own & others.keys()):
            place = f"entry point {self.base.__name__}.{twice[0]}"
            raise InputError(place, "the name of one of ragrelay's kinds", f"any name except {', '.join(sorted(own))}")
        return sorted(own | others.keys())

    def module(self, definition: Mapping[str, Any]) -> str:
        """Return the module that defines the kind of the entry ``definition``."""
        return self._module(definition[self.selector])

    def _module(self, name: str) -> str:
        """Return a kind's module. Entry points, which take 40 ms, are only searched for names that ragrelay lacks."""
        own = f"{self.package}.{name}"
        if own in sys.modules or (str(name).isidentifier() and find_spec(own)):
            return own
        if name not in self.names():
            raise InputError(self.selector, repr(name), one_of(self.names(), name))
        return extensions(self.base.__name__)[name]

    def __getitem__(self, name: str) -> type[K]:
        module = import_extension(self._module(name))
        kinds = classes_of(module, self.base)
        if len(kinds) != 1:
            raise InputError(
                f"module {module.__name__}", f"{len(kinds)} classes", f"exactly one subclass of {self.base.__name__}"
            )
        return kinds[0]

    def of(self, definition: Mapping[str, Any]) -> K:
        """Return an instance of the entry's kind, with the values in ``definition`` (a catalogue entry) as fields."""
        return self._made({key: value for key, value in definition.items() if key != self.selector}, definition)

    def _made(self, keys: Mapping[str, Any], definition: Mapping[str, Any]) -> K:
        """Return the kind with all ``keys`` that aren't None. Unlike in users' entries, types may be converted."""
        given = {key: value for key, value in keys.items() if value is not None}
        return self[definition[self.selector]].model_validate(given, strict=False)

    def completed(self, definition: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
        """Return ``definition`` with sorted keys and with the defaults that depend on other keys.

        ``folder``: the folder in which to look for modules with users' functions.
        """
        return dict(sorted(self[definition[self.selector]].completed(definition, folder).items()))

    def validated(self, given: dict[str, object]) -> dict[str, Any]:
        """Validate the user's entry ``given``. Return the entry with its kind's defaults, sorted by key."""
        check_keys(given, given, [self.selector])
        name = self._named(given[self.selector])
        kind = self[name]
        check_keys(given, [self.selector, *kind.known()], kind.required())
        kind.check_written(given)
        return self._with_defaults(kind, name, given)

    def _named(self, name: object) -> str:
        if name not in (names := self.names()):
            raise RefusedError(repr(name), one_of(names, name), self.selector)
        return str(name)

    def _with_defaults(self, keys: type[Settings], name: str, given: Mapping[str, object]) -> dict[str, object]:
        values = keys.model_validate({key: value for key, value in given.items() if key != self.selector})
        return dict(sorted({**values.mapping(), self.selector: name}.items()))

    def choices(self, lead: str) -> JsonSchema:
        """Return the JSON Schema of the key that names a kind. The description is ``lead`` and a list of all kinds."""
        kinds = "; ".join(f"`{name}` {self[name].description().rstrip('.')}" for name in self.names())
        return {"description": f"{lead}{kinds}.", "enum": self.names()}

    def schema(self) -> JsonSchema:
        """Return the JSON Schema of an entry."""
        return {"oneOf": [self[name].branch(self.selector, name) for name in self.names()]}

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return AfterValidator(self.validated).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return {**self.schema(), "finished": True}


class MergedKinds(Kinds[K]):
    """Kinds with shared keys. An entry may have any kind's keys, but only uses the keys of its kind.

    An overlay can therefore change the kind without removing keys. ``default``: the kind if none is given.
    """

    def __init__(self, base: type[K], package: str, selector: str, default: str) -> None:
        super().__init__(base, package, selector)
        self.default = default

    def of(self, definition: Mapping[str, Any]) -> K:
        """Return an instance of the entry's kind. Keys in ``definition`` that this kind doesn't use are ignored."""
        kind = self[definition[self.selector]]
        return self._made({key: value for key, value in definition.items() if key in kind.model_fields}, definition)

    def check_given(self, place: str, given: Mapping[str, Any]) -> None:
        """Raise InputError if ``given``, an entry without defaults, has a key that only other kinds use."""
        own = self[given.get(self.selector, self.default)].model_fields
        for key in given:
            if key not in own and key != self.selector:
                users = [name for name in self.names() if key in self[name].model_fields]
                raise InputError(
                    f"{place}.{key}'",
                    "a key that has no effect",
                    f"this key only with {self.selector}: {' or '.join(users)}",
                )

    def own(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``definition`` with only the keys that the entry's kind uses."""
        used = {self.selector, *self[definition[self.selector]].model_fields}
        return {key: value for key, value in definition.items() if key in used}

    def validated(self, given: dict[str, object]) -> dict[str, Any]:
        """Validate the user's entry ``given``. Return the entry with all kinds' defaults, sorted by key."""
        merged = _merged(tuple(self[name] for name in self.names()))
        check_keys(given, [self.selector, *merged.known()], [])
        name = self._named(given.get(self.selector, self.default))
        check_keys(given, given, self[name].required())
        return self._with_defaults(merged, name, given)

    def schema(self) -> JsonSchema:
        """Return the JSON Schema of an entry, with all kinds' keys; a key's description says which kinds require it."""
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
    """Return a model with the keys of all ``kinds``. Keys that only some of them require are optional."""
    fields = {key: copy(kind.model_fields[key]) for kind in kinds for key in kind.known()}
    for field in fields.values():
        if field.is_required():
            field.default = None
    types: dict[str, Any] = {key: (field.annotation, field) for key, field in fields.items()}
    return create_model("MergedKinds", __base__=Settings, **types)
