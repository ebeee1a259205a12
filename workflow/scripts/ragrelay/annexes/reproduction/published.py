"""Read published tables from CSV files, and check their columns and values."""

import csv
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.text_lines import numbered_lines

Row = dict[str, Any]
Names = Mapping[str, Mapping[str, str]]


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text]


TYPES: dict[Callable[[str], Any], str] = {
    str: "a name", int: "a whole number", _number: "a number", _truth: "true or false",
}  # fmt: skip


@dataclass(frozen=True)
class TableLayout:
    """The columns of a published table."""

    keys: Mapping[str, Callable[[str], Any]]
    """The columns that identify a row."""
    values: Mapping[str, Callable[[str], Any]]
    """The other required columns, whose values may be empty."""
    sections: Mapping[str, str]
    """The section of the configuration that defines a column's names, keyed by column."""
    optional: Mapping[str, Callable[[str], Any]]

    @property
    def required(self) -> dict[str, Callable[[str], object]]:
        return {**self.keys, **self.values}


LAYOUTS = {
    "utility": TableLayout(
        {"dataset": str, "retriever": str, "ordering": str, "k": int, "references": str},
        {"mean_utility": _number},
        {"dataset": "datasets", "retriever": "retrievers", "references": "references"},
        {"differs_from_rel": _truth, "differs_from_reversed": _truth, "mean_p0": _number},
    ),
    "labels": TableLayout(
        {"retriever": str, "dataset": str, "annotation": str, "measure": str, "coefficient": str},
        {"value": _number},
        {"dataset": "datasets", "retriever": "retrievers", "annotation": "annotations"},
        {},
    ),
    "label_cost": TableLayout(
        {"dataset": str}, {"end_to_end_seconds": _number, "erag_seconds": _number}, {"dataset": "datasets"}, {}
    ),
    "claims": TableLayout(
        {"model": str, "dataset": str}, {"mean_acu": _number}, {"model": "generators", "dataset": "claims"}, {}
    ),
}
"""Layouts, keyed by the key in ``published`` that names the file. A file's other columns are ignored."""


def read_published(path: str | Path, kind: str, names: Names) -> list[Row]:
    """Read a published table, and replace published names with the study's names. Empty values become None.

    ``kind``: a key in LAYOUTS; ``names``: the study's names, keyed by configuration section and then by published name.
    Raises InputError if the file is missing or isn't UTF-8, a column is missing or duplicated, a value has the wrong
    type, or two rows have the same keys.
    """
    layout, lines = LAYOUTS[kind], list(numbered_lines(Path(path)))
    if not lines:
        raise InputError(path, "no content", f"columns {', '.join(layout.required)}")
    head, *rows = [(number, _cells(f"{path}, line {number}", line)) for number, line in lines]
    columns = head[1]
    more = [name for name in layout.required if name not in columns]
    if more:
        raise InputError(f"{path}, line {head[0]}", f"only columns {', '.join(columns)}", f"{', '.join(more)} as well")
    for name, times in Counter(columns).items():
        if times > 1:
            raise InputError(f"{path}, line {head[0]}", f"duplicate column {name!r}", "unique column names")
    types = {name: converter for name, converter in {**layout.required, **layout.optional}.items() if name in columns}
    by_key: dict[tuple[object, ...], Row] = {}
    for number, cells in rows:
        place = f"{path}, line {number}"
        if len(cells) != len(columns):
            raise InputError(place, f"{len(cells)} value{'s'[: len(cells) != 1]}", f"{len(columns)}, one per column")
        given = {name: cells[columns.index(name)] for name in types}
        row = {name: _value(place, name, given[name], converter, layout) for name, converter in types.items()}
        row |= {key: names.get(section, {}).get(row[key], row[key]) for key, section in layout.sections.items()}
        key = tuple(row[name] for name in layout.keys)
        if key in by_key:
            keys = ", ".join(f"{name} {row[name]}" for name in layout.keys)
            raise InputError(place, f"a second row for {keys}", "one row per combination")
        by_key[key] = row
    return list(by_key.values())


def _cells(place: str, line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise InputError(place, f"an unreadable line ({error})", "comma-separated values") from None


def _value(place: str, name: str, text: str, converter: Callable[[str], object], layout: TableLayout) -> Any:
    """Convert a cell; an empty cell is None, unless it is a key."""
    if not text and name not in layout.keys:
        return None
    try:
        # Python would also accept 1_000 and digits from other scripts as numbers.
        if converter is not str and ("_" in text or not text.isascii()):
            raise ValueError(text)
        return converter(text)
    except (ValueError, KeyError):
        raise InputError(place, f"{name} {text!r}", TYPES[converter]) from None
