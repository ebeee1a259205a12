"""Read nested values that follow --config, or that are in a profile: Snakemake hands them over as texts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ragrelay.base.errors import ConfigKey, InputError
from ragrelay.base.io.yaml_keys import UNLIKE
from ragrelay.config.schema import validated

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
NULL = "None"
"""How Snakemake writes null where it passes a profile's mapping on as a text."""


def with_types(config: Mapping[str, Any], given: Mapping[str, object]) -> Mapping[str, Any]:
    """Return ``config`` with the texts of ``given`` as numbers, truth values and null, unless a key takes a text alone.

    ``given``: values that Snakemake read from its command line and that ``config`` has, itself or, in a module, an
    entry of it. Other texts of ``config`` stay, since YAML files say what is a number.
    """
    entries = [given, *(entry for entry in given.values() if isinstance(entry, Mapping))]
    texts = {key: text for entry in entries for key, text in _texts(config, entry) if _value(text) != text}
    read, as_texts = set(texts), set[str]()
    while texts and (key := _refused(config, read)) in texts:
        if key in as_texts:  # wrong in either form
            read.add(key)
            break
        as_texts.add(key)
        read.remove(key)
    return _converted(config, read) if texts else config


def _refused(config: Mapping[str, Any], read: set[str]) -> str:
    """Return the first key that the schema refuses if those of ``read`` are converted; empty if there is none."""
    try:
        validated(_converted(config, read))
    except InputError as error:
        return error.parts[0]
    return ""


def _texts(value: object, given: object, *path: object) -> Iterator[tuple[str, str]]:
    """Yield the texts that ``given`` and ``value`` share, with their keys."""
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
    """Return what YAML reads ``text`` as, if that is a number, a truth value or null."""
    if NUMBER.fullmatch(text) and not UNLIKE.match(text):
        return float(text) if set(text) & set(".eE") else int(text)
    kind = yaml.CSafeLoader("").resolve(yaml.ScalarNode, text, (True, False)).rpartition(":")[2]  # type: ignore[no-untyped-call]
    if text == NULL or (text and kind == "null"):
        return None
    return yaml.safe_load(text) if kind == "bool" else text
