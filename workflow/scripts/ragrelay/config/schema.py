"""Validate a configuration against its JSON Schema and fill in the schema's defaults."""

import copy
import datetime
import functools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError

from ragrelay.annotations.source import SOURCE_KINDS
from ragrelay.claims.source import CLAIM_KINDS
from ragrelay.collection.source import DATASET_KINDS
from ragrelay.errors import InputError, one_of
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.io.workflow_files import ROOT
from ragrelay.io.yaml_keys import read_yaml
from ragrelay.kinds import Kinds
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.vocabulary.orderings import ORDERINGS, PERMUTATIONS

TYPES = {
    "integer": "an integer", "number": "a number", "string": "a text", "array": "a list", "object": "a mapping",
    "null": "null",
    # Snakemake takes --config key=true for a text.
    "boolean": "true or false (after --config: True or False)",
}  # fmt: skip
KINDS: dict[str, Kinds[Any]] = {
    "dataset": DATASET_KINDS,
    "retriever": RETRIEVER_KINDS,
    "generator": GENERATOR_KINDS,
    "scorer": SCORER_KINDS,
    "annotation": SOURCE_KINDS,
    "claims": CLAIM_KINDS,
}
"""By the name of their definition in the schema."""
# Snakemake takes what is in braces for a wildcard, in the path of a file as in a job's params.
FORMATS = {
    "path": (r"[^\0{}]*", "a path that is written out, without braces or NUL"),
    "path of a dataset": (r"([^\0{}]|\{dataset\})*", "a path without NUL, and with no braces but those of {dataset}"),
    "model": (r"[^\0]*", "a local folder or a hub id, without NUL"),
}
"""Of texts: what a whole one must match, and that in words."""
SCHEMA_PATH = ROOT / "workflow" / "schemas" / "config.schema.yaml"

Problem = Any
"""A ValidationError of jsonschema, whose attributes are typed as maybe unset though they never are here."""


def _whole(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """The keyword ``pattern`` over the whole text: to Python ``$`` would let a line end pass into a file name."""
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _format(_: Any, name: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """The keyword ``format`` by FORMATS."""
    if name in FORMATS and isinstance(instance, str) and not re.fullmatch(FORMATS[name][0], instance):
        yield ValidationError(f"{instance!r} is no {name}")


def _is_number(_: Any, value: Any) -> bool:
    """YAML knows .nan and .inf, which no bound of the schema would catch."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# To JSON Schema 1.0 is an integer; as a k or a seed it would become part of file names.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _whole, "format": _format},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": lambda _, value: type(value) is int, "number": _is_number}
    ),
)


@functools.cache
def load_schema() -> dict[str, Any]:
    """The configuration's JSON Schema as a mapping: the file's, orderings, and entries whose kinds are classes."""
    schema = read_yaml(SCHEMA_PATH)
    schema["properties"]["grid"]["properties"]["orderings"]["items"] = {"enum": [*ORDERINGS, PERMUTATIONS]}
    schema["$defs"] |= {name: kinds.schema() for name, kinds in KINDS.items()}
    return schema


def validated(config: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy of ``config`` that satisfies the schema, with defaults filled in and keys in sorted order.

    Raises InputError at the first key that is wrong, named by its dotted path.
    """
    schema = load_schema()
    config = _with_dates_as_texts(config)
    validator = _Validator(schema)
    errors = sorted(validator.iter_errors(config), key=lambda error: [str(step) for step in error.absolute_path])
    if errors:
        raise _input_error(errors[0])
    for name, entry in config.get("generators", {}).items():
        GENERATOR_KINDS.check_required(f"config key 'generators.{name}'", entry)
    return _sorted(_with_defaults(copy.deepcopy(dict(config)), schema))


def _with_dates_as_texts(value: Any) -> Any:
    """``value`` with each date, as YAML reads 2026-01-31 without quotation marks, as that text."""
    if isinstance(value, Mapping):
        return {key: _with_dates_as_texts(sub) for key, sub in value.items()}
    if isinstance(value, list):
        return [_with_dates_as_texts(sub) for sub in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def _input_error(error: Problem) -> InputError:
    if error.validator == "oneOf":
        error = _error_of_meant_kind(error)
    key = ".".join(str(step) for step in error.absolute_path)
    place = f"config key {key!r}" if key else "config"
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(known), key=str)
        return InputError(place, f"unknown key {', '.join(map(repr, unknown))}", one_of(known, *unknown))
    if isinstance(error.schema, Mapping) and error.schema.get("writeOnly"):
        what = error.schema["description"]
        return InputError(place, "a value that can't be one (not shown)", what[0].lower() + what[1:].partition(";")[0])
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return InputError(place, f"no key {', '.join(map(repr, missing))}", "it to be given")
    if error.validator == "enum":
        return InputError(place, repr(error.instance), one_of(error.validator_value, error.instance))
    if error.validator == "anyOf" and "required" not in error.validator_value[0]:
        # An error inside is of the one alternative whose type the value has.
        inside = [sub for sub in error.context or [] if sub.path or sub.validator not in ("type", "const")]
        if inside:
            return _input_error(inside[0])
        return InputError(place, repr(error.instance), " or ".join(map(_alternative, error.validator_value)))
    if error.validator == "anyOf":
        names = [name for alternative in error.validator_value for name in alternative["required"]]
        return InputError(place, "none of " + ", ".join(map(repr, names)), "at least one of them")
    if error.validator == "uniqueItems":
        return InputError(place, repr(error.instance), "no value twice")
    if error.validator == "format":
        return InputError(place, repr(error.instance), FORMATS[error.validator_value][1])
    if error.validator == "pattern":
        return InputError(place, repr(error.instance), error.schema["description"])
    return InputError(place, repr(error.instance), _expectation(error))


def _alternative(sub: Mapping[str, Any]) -> str:
    return repr(sub["const"]) if "const" in sub else TYPES[sub["type"]]


def _expectation(error: Problem) -> str:
    if error.validator == "type":
        types = error.validator_value
        return " or ".join(TYPES[name] for name in ([types] if isinstance(types, str) else types))
    wording = {
        "minimum": "at least {}",
        "maximum": "at most {}",
        "exclusiveMinimum": "more than {}",
        "minItems": "at least {} item(s)",
        "maxItems": "at most {} item(s)",
        "minLength": "at least {} character(s)",
        "minProperties": "at least {} entry",
        "const": "{}",
    }
    return wording.get(str(error.validator), str(error.validator) + " {}").format(error.validator_value)


def _error_of_meant_kind(error: Problem) -> ValidationError:
    """The error of the alternative whose ``kind`` or ``source`` was given; else one that lists the alternatives."""
    alternatives = error.validator_value
    selector = next(name for name, sub in alternatives[0]["properties"].items() if "const" in sub)
    if isinstance(error.instance, Mapping) and selector not in error.instance:
        unnamed = ValidationError("", validator="required", validator_value=[selector], instance=error.instance)
        unnamed.path.extend(error.absolute_path)
        return unnamed
    branches: dict[int, list[ValidationError]] = {}
    for sub in error.context or []:
        branches.setdefault(int(sub.schema_path[0]), []).append(sub)
    for found in branches.values():
        if not any(sub.validator == "const" for sub in found):
            return found[0]
    titles = [branch["title"] for branch in alternatives]
    meant = ValidationError("", validator="enum", validator_value=titles, instance=error.instance[selector])
    meant.path.extend([*error.absolute_path, selector])
    return meant


def _with_defaults(value: Any, schema: Mapping[str, Any]) -> Any:
    schema = _resolved(schema)
    if schema.get("type") == "number":
        return float(value)  # 1 and 1.0 are one definition, with one hash
    if "oneOf" in schema and isinstance(value, Mapping):
        schema = next(s for s in schema["oneOf"] if _Validator(_standalone(s)).is_valid(value))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key, sub in properties.items():
            if key not in value and "default" in sub:
                value[key] = copy.deepcopy(sub["default"])
        others = schema.get("additionalProperties")
        for key in value:
            sub = properties.get(key, others if isinstance(others, Mapping) else None)
            if sub is not None:
                value[key] = _with_defaults(value[key], sub)
    return value


def _resolved(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return dict(schema)
    target = load_schema()["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return {**target, **{key: item for key, item in schema.items() if key != "$ref"}}


def _standalone(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "$defs": load_schema()["$defs"]}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return value
