"""Build plain tables for pages: cells contain only text, and readers can sort and filter the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ragrelay.base.vocabulary.columns import CELL_COLUMNS, STUDY_PART
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.numbers import MISSING, count, number, share, with_interval

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column in a page's table."""

    title: str
    numeric: bool = False
    filtered: bool = False
    """Whether readers may filter by it."""
    chosen: str = ""
    """The value that it is initially filtered by, if any."""
    text: Callable[[Row], str] = lambda row: ""
    """Returns the text of a row's cell."""


@dataclass(frozen=True)
class Table:
    """A table on a page, with the text of all cells."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left: int = 0
    """How many rows the CSV file has beyond those on the page."""
    title: str = ""
    """Empty for a registered table: its entry has the title."""


def filled(table: Table) -> Table:
    """Remove all empty columns from ``table``."""
    kept = [place for place in range(len(table.columns)) if {row[place] for row in table.rows} - {"", MISSING}]
    rows = [[row[place] for place in kept] for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in kept], rows=rows)


def records_table(title: str, records: Sequence[Mapping[str, object]], first: Sequence[str] = ()) -> Table:
    """Build a table from JSON-like records. The columns ``first`` come first, the others in order of appearance."""
    seen = list(dict.fromkeys(name for record in records for name in record))
    names = [*(name for name in first if name in seen), *(name for name in seen if name not in first)]
    numeric = {
        name for name in names
        if all(_is_number(record[name]) for record in records if record.get(name) is not None)
        and any(_is_number(record.get(name)) for record in records)
    }  # fmt: skip
    rows = [[_plain(record.get(name)) for name in names] for record in records]
    return Table([Column(name.replace("_", " "), name in numeric) for name in names], rows, title=title)


def first_rows(frame: pl.DataFrame, most: int | None, later: pl.Expr | None = None) -> pl.DataFrame:
    """Return at most ``most`` rows of ``frame``, in order. Rows for which ``later`` is true are dropped first."""
    if most is None or frame.height <= most:
        return frame
    if later is None:
        return frame.head(most)
    placed = frame.with_row_index("place").sort(later, maintain_order=True).head(most)
    return placed.sort("place").drop("place")


def name(title: str, of: str = "", chosen: str = "") -> Column:
    """Create a filterable column that shows the names in the frame's column ``of`` (default: ``title``)."""
    return Column(title, False, True, chosen, lambda row: _word(row[of or title]))


def textual(title: str, of: str | Callable[[Row], str]) -> Column:
    """Create a text column; ``of`` is a column of the frame, or a function that returns a row's text."""
    return Column(title, text=of if callable(of) else lambda row: _word(row[of]))


def numeric(title: str, of: str | Callable[[Row], object], shown: Callable[..., str] = number, *digits: int) -> Column:
    """Create a column of numbers. ``shown``: a function that formats a number, given the number and ``digits``."""
    return Column(title, True, text=lambda row: shown(of(row) if callable(of) else row[of], *digits))


def between(title: str, of: str, digits: int = 3, ends: Sequence[str] = ("low", "high")) -> Column:
    """Create a column of numbers with intervals; ``ends`` names the columns that contain the intervals' ends."""
    return Column(title, True, text=lambda row: with_interval(row[of], row[ends[0]], row[ends[1]], digits))


def depth(title: str = "k", chosen: str = "") -> Column:
    """Create a filterable column that shows k, or ``all`` if k is null."""
    return Column(title, True, True, chosen, lambda row: "all" if row["k"] is None else str(row["k"]))


def yes_no(title: str, of: str, filtered: bool = True) -> Column:
    """Create a column that shows ``yes``, ``no`` or, for a null value, nothing."""
    return Column(title, False, filtered, text=lambda row: "" if row[of] is None else "yes" if row[of] else "no")


LATER = pl.col("references").str.ends_with(UNSEEN)
"""If the page has no room for all rows, those on unseen references are dropped first."""
OF_CELL = (name("retriever"), name("ordering"), depth(), name("references"))
"""The columns that name a cell."""
REMARK = textual(
    "remark",
    lambda row: (
        row.get("remark") or row["reason"] or ("one more query would overturn it" if row.get("stands") is False else "")
    ),
)
"""Why there is no test, too few queries or a verdict unlike Student's t, or that one more query would overturn it."""
FROM_CACHE = numeric(
    "from the cache", lambda row: row["cached_tokens"] / row["prompt_tokens"] if row["prompt_tokens"] else None, share
)


def cell_values(row: Row) -> list[str]:
    """Return the text of a row's retriever, ordering, k and references."""
    return [column.text(row) for column in OF_CELL]


def table_of(frame: pl.DataFrame, *columns: Column, most: int | None = None, later: pl.Expr | None = None) -> Table:
    """Build a table from at most ``most`` rows of ``frame``. Rows for which ``later`` is true are dropped first."""
    rows = first_rows(frame, most, later)
    shown = [[column.text(row) for column in columns] for row in rows.iter_rows(named=True)]
    return Table(columns, shown, frame.height - rows.height)


def table_as_written(frame: pl.DataFrame, most: int | None = None) -> Table:
    """Build a table with all columns of ``frame`` except dataset, generator and scorer, which are constant."""

    def column(of: str, dtype: pl.DataType) -> Column:
        title = of.replace("_", " ")
        if of == "k":
            return depth()
        if dtype == pl.Boolean:
            return yes_no(title, of)
        if dtype.is_numeric():
            return numeric(title, of, count if dtype.is_integer() else number)
        return name(title, of) if of in CELL_COLUMNS else textual(title, of)

    columns = [column(of, dtype) for of, dtype in frame.schema.items() if of not in STUDY_PART]
    return table_of(frame, *columns, most=most)


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: object) -> str:
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
