"""Convert nested values from --config or a profile, which Snakemake passes on as strings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ragrelay.base.errors import ConfigKey, InputError
from ragrelay.base.io.yaml_keys import UNLIKE
from ragrelay.config.schema import validated

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
NULL = "None"
"""How Snakemake writes null when it passes on a profile's mapping as a string."""


def with_types(config: Mapping[str, Any], given: Mapping[str, object]) -> Mapping[str, Any]:
    """Return ``config`` with strings from ``given`` converted to numbers, booleans or null if the key accepts them.

    ``given``: the values from Snakemake's command line, nested under a key if the workflow is used as a module. Other
    strings in ``config`` stay unchanged, because YAML files already distinguish strings from numbers.
    """
    entries = [given, *(entry for entry in given.values() if isinstance(entry, Mapping))]
    texts = {key: text for entry in entries for key, text in _texts(config, entry) if _value(text) != text}
    read, as_texts = set(texts), set[str]()
    while texts and (key := _refused(config, read)) in texts:
        if key in as_texts:  # invalid either way
            read.add(key)
            break
        as_texts.add(key)
        read.remove(key)
    return _converted(config, read) if texts else config


def _refused(config: Mapping[str, Any], read: set[str]) -> str:
    """Return the first key that the schema rejects once the keys ``read`` are converted; empty if it accepts all."""
    try:
        validated(_converted(config, read))
    except InputError as error:
        return error.parts[0]
    return ""


def _texts(value: object, given: object, *path: object) -> Iterator[tuple[str, str]]:
    """Yield each string that ``given`` and ``value`` both have under the same key, after its key."""
    if isinstance(value, Mapping) and isinstance(given, Mapping):
        for key in given.keys() & value.keys():
            yield from _texts(value[key], given[key], *path, key)
    elif isinstance(value, list) and isinstance(given, list) and len(value) == len(given):
        for place, (item, of_given) in enumerate(zip(value, given, strict=True)):
            yield from _texts(item, of_given, *path, place)
    elif isinstance(value, str) and value == given:
        yield ConfigKey(*path), value


def _converted(value: Any, keys: set[str], *path: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _converted(item, keys, *path, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_converted(item, keys, *path, place) for place, item in enumerate(value)]
    return _value(value) if ConfigKey(*path) in keys else value


def _value(text: str) -> object:
    """Return ``text`` as YAML reads it if that is a number, a boolean or null; otherwise ``text`` itself."""
    if NUMBER.fullmatch(text) and not UNLIKE.match(text):
        return float(text) if set(text) & set(".eE") else int(text)
    kind = yaml.CSafeLoader("").resolve(yaml.ScalarNode, text, (True, False)).rpartition(":")[2]  # type: ignore[no-untyped-call]
    if text == NULL or (text and kind == "null"):
        return None
    return yaml.safe_load(text) if kind == "bool" else text
