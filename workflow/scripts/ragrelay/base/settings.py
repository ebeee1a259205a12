"""Define typed mappings for the configuration, with messages for invalid values.

pydantic validates the values and generates the JSON Schema. This module adds keys that may be absent but not null. It
also adds types whose error messages describe the valid values (config/messages.py completes the messages).
"""

import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import CoreSchema

from ragrelay.base.errors import one_of

T = TypeVar("T")
JsonSchema = dict[str, Any]
TYPES = {
    "int_type": "an integer", "float_type": "a number", "finite_number": "a number", "string_type": "a text",
    "string_unicode": "a text in Unicode", "list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping",
    "bool_type": "true or false",
}  # fmt: skip
"""Maps each of pydantic's errors about a wrong type to the expected type, as named in messages."""


class RefusedError(ValueError):
    """A validator's error, with the value found and the values expected. ``key``: the invalid key in a mapping."""

    def __init__(self, found: str, expected: str, key: str | None = None) -> None:
        super().__init__(found, expected)
        self.found, self.expected, self.key = found, expected, key


@dataclass(frozen=True)
class Matching:
    """An annotation for strings that match ``pattern``. In JSON Schemas, ``format`` (if set) replaces the pattern."""

    pattern: str
    expected: str
    format: str = ""
    shown: bool = True
    """Whether error messages may show the string."""

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        validator = AfterValidator(self.check) if self.shown else BeforeValidator(self.check)
        return validator.__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        # In JSON Schema, "$" matches only at the end. Strings of unbounded length have a format instead of a pattern.
        return {**handler(schema), **({"format": self.format} if self.format else {"pattern": f"^{self.pattern}$"})}

    def check(self, value: Any) -> Any:
        """Return ``value`` if it matches the pattern, otherwise raise RefusedError."""
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value):
            raise RefusedError(repr(value) if self.shown else "an invalid value (not shown)", self.expected)
        return value


@dataclass(frozen=True)
class OneOf:
    """An annotation for values that must be one of ``names()``. The function ``names`` is called at every check."""

    names: Callable[[], Collection[str]]

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return PlainValidator(self.check).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return {"enum": list(self.names())}

    def check(self, value: Any) -> Any:
        """Return ``value`` if it is one of the names, otherwise raise RefusedError."""
        if value not in (names := list(self.names())):
            raise RefusedError(repr(value), one_of(names, value))
        return value


class _OrNull:
    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return WrapValidator(self.check).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        return {**handler(schema), "nullable": True}

    def check(self, value: Any, validate: Callable[[Any], Any]) -> Any:
        """Validate ``value``. If the value has the wrong type, the message says that null is also accepted."""
        try:
            return validate(value)
        except ValidationError as error:
            expected = TYPES.get(error.errors()[0]["type"])
            if expected is None:
                raise
            raise RefusedError(repr(value), f"{expected} or null") from None


OR_NULL = _OrNull()
Nullable = Annotated[T | None, OR_NULL]
"""The type of keys that may be null."""


def _no_value_twice(given: Any) -> Any:
    if isinstance(given, list) and any(value in given[:place] for place, value in enumerate(given)):
        raise RefusedError(repr(given), "unique values")
    return given


Unique = Annotated[list[T], BeforeValidator(_no_value_twice), Field(json_schema_extra={"uniqueItems": True})]
"""The type of lists without repeated values."""
FUNCTION = Matching(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", "a function in the form module:function")
Function = Annotated[str, FUNCTION]
"""A user's own function, as ``module:function``. It must exist, and its module's hash is added to the key ``code``."""
CLASS = Matching(FUNCTION.pattern, "a class in the form module:Class")
ClassName = Annotated[str, CLASS]
"""A user's own class, as ``module:Class``."""
# Names become part of file paths.
NAME = Matching(
    "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}",
    "a name of at most 64 letters, digits, '-', '_' and '.', starting with a letter or digit",
)
Name = Annotated[str, NAME]
"""The name of another entry or of a template."""
Text = Annotated[str, Field(min_length=1)]
# Snakemake treats text in braces as a wildcard, both in paths and in params.
PATH = Matching(r"[^\0{}]*", "a path without braces or NUL characters", "path")
File = Annotated[Text, PATH]
"""A path to a user's file or folder."""
DATASET_PATH = Matching(
    r"([^\0{}]|\{dataset\})*",
    "a path without NUL characters and without braces other than {dataset}",
    "path of a dataset",
)
DatasetFile = Annotated[Text, DATASET_PATH]
"""A path in which ``{dataset}`` stands for the dataset's name."""
Model = Annotated[Text, Matching(r"[^\0]*", "a local folder or a hub id, without NUL characters", "model")]
"""A local folder or a hub id."""


OUTSIDE_JOBS = "outside jobs"
"""Marks a key that jobs never see. Changing such a key's declaration therefore leaves code digests unchanged."""


def file_of(path: str, dataset: str) -> str:
    """Replace ``{dataset}`` in a file's path with the dataset's name."""
    return str(Path(path.replace("{dataset}", dataset)))


class _NotNull:
    """Stands for null in keys that may be absent but not null. No type accepts it, and messages show it as ``None``."""

    def __repr__(self) -> str:
        return "None"


class Settings(BaseModel):
    """A mapping with a fixed set of keys. The first paragraph of a subclass's docstring describes the mapping to users.

    A field without a default is a required key. A field whose default is None is a key that may be absent. Only a key
    of type Nullable may be null.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def known(cls) -> list[str]:
        """List all keys that may be set.

        Returns:
            The keys, in the order in which the fields are declared.
        """
        return list(cls.model_fields)

    @classmethod
    def required(cls) -> list[str]:
        """List the keys that must be set.

        Returns:
            The keys, in the order in which the fields are declared.
        """
        return [key for key, field in cls.model_fields.items() if field.is_required()]

    @classmethod
    def nullable(cls, key: str) -> bool:
        """Check whether a key accepts null.

        Args:
            key: One of the keys.

        Returns:
            Whether the key's value may be null.
        """
        return OR_NULL in cls.model_fields[key].metadata

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        check_keys(given, cls.model_fields, cls.required())
        return {k: _NotNull() if value is None and not cls.nullable(k) else value for k, value in given.items()}

    def mapping(self) -> dict[str, Any]:
        """Convert the settings to plain values.

        Returns:
            A mapping from sorted keys to values, including defaults. Keys without a value are left out.
        """
        values = {key: getattr(self, key) for key in sorted(self.known())}
        return {k: _plain(value) for k, value in values.items() if value is not None or self.nullable(k)}

    @classmethod
    def description(cls) -> str:
        """Return the description that users see.

        Returns:
            The first paragraph of the class's docstring, on one line.
        """
        return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())

    @classmethod
    @functools.cache
    def properties(cls) -> dict[str, JsonSchema]:
        """Return each key's JSON Schema.

        Returns:
            The schemas by key.
        """
        schema = cls.model_json_schema()
        parts = schema.get("$defs", {})
        return {key: _finished(sub, parts) for key, sub in schema["properties"].items()}


def check_keys(given: Mapping[Any, Any], known: Collection[str], required: Collection[str]) -> None:
    """Raise RefusedError if ``given`` has an unknown key or lacks a required key."""
    if unknown := sorted((key for key in given if key not in known), key=str):
        raise RefusedError(f"unknown key {', '.join(map(repr, unknown))}", one_of(sorted(known), *unknown))
    if missing := [key for key in required if key not in given]:
        raise RefusedError(f"no key {', '.join(map(repr, missing))}", "a value for every required key")


def _plain(value: Any) -> Any:
    """Return ``value`` with every Settings converted to a mapping and all mappings sorted by key."""
    if isinstance(value, Settings):
        return value.mapping()
    return {key: _plain(value[key]) for key in sorted(value)} if isinstance(value, dict) else value


def _finished(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> JsonSchema:
    """Inline ``parts`` (``$defs``) in pydantic's JSON Schema, and only allow null where it is accepted."""
    finished = dict(schema)
    if finished.pop("finished", False):  # a kind's schema, built by its properties()
        return finished
    if "anyOf" in finished:
        types = [sub for sub in finished.pop("anyOf") if sub != {"type": "null"}]
        finished = {**(types[0] if len(types) == 1 else {"anyOf": types}), **finished}
    part = parts.get(str(finished.pop("$ref", None)).removeprefix("#/$defs/"))
    if part is not None:
        finished = {**part, "description": " ".join(part["description"].split()), **finished}
    finished.pop("title", None)
    nullable = finished.pop("nullable", False)
    if nullable:
        finished["type"] = [finished["type"], "null"]
    elif finished.get("default", ...) is None:
        del finished["default"]
    if "enum" in finished:
        finished.pop("type", None)
    if "patternProperties" in finished:
        ((pattern, values),) = finished.pop("patternProperties").items()
        finished |= {"propertyNames": {"pattern": pattern}, "additionalProperties": values}
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(finished.get(key), dict):
            finished[key] = _finished(finished[key], parts)
    for key in ("anyOf", "oneOf"):
        if key in finished:
            finished[key] = [_finished(sub, parts) for sub in finished[key]]
    if "properties" in finished:
        finished["properties"] = {key: _finished(sub, parts) for key, sub in finished["properties"].items()}
    return finished
