"""The pages' plain tables, as text cells with what a reader may sort and filter by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ragrelay.display.numbers import MISSING, count, number


@dataclass(frozen=True)
class Column:
    """``filtered``: the reader may filter by it; ``chosen``: the value it is first filtered by."""

    title: str
    numeric: bool = False
    filtered: bool = False
    chosen: str = ""


@dataclass(frozen=True)
class Table:
    """``left``: how many rows more the CSV file has than the page. A table of the registry has its title there."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left: int = 0
    title: str = ""


def told(table: Table) -> Table:
    """``table`` without the columns in which no row has anything."""
    kept = [place for place in range(len(table.columns)) if {row[place] for row in table.rows} - {"", MISSING}]
    rows = [[row[place] for place in kept] for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in kept], rows=rows)


def records_table(title: str, records: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> Table:
    """A table of JSON-like records; columns as they first appear, ``first`` before the others."""
    seen = list(dict.fromkeys(name for record in records for name in record))
    names = [*(name for name in first if name in seen), *(name for name in seen if name not in first)]
    numeric = {
        name for name in names
        if all(_is_number(record[name]) for record in records if record.get(name) is not None)
        and any(_is_number(record.get(name)) for record in records)
    }  # fmt: skip
    rows = [[_plain(record.get(name)) for name in names] for record in records]
    return Table([Column(name.replace("_", " "), name in numeric) for name in names], rows, title=title)


def first_rows(frame: pl.DataFrame, most_rows: int | None, later: pl.Expr) -> pl.DataFrame:
    """At most ``most_rows`` rows of ``frame``, in its order; those that are ``later`` go first when there are more."""
    if most_rows is None or frame.height <= most_rows:
        return frame
    placed = frame.with_row_index("place").sort(later, maintain_order=True).head(most_rows)
    return placed.sort("place").drop("place")


def cell_columns() -> list[Column]:
    """The columns that name a cell."""
    return [Column("retriever", filtered=True), Column("ordering", filtered=True), Column("k", True, True),
            Column("references", filtered=True)]  # fmt: skip


def cell_values(row: Mapping[str, Any]) -> list[str]:
    """The values of ``cell_columns``."""
    return [row["retriever"], row["ordering"], str(row["k"]), row["references"]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, float):
        return number(value, 1)
    if isinstance(value, int) and not isinstance(value, bool):
        return count(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_plain(held)}" for name, held in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)
