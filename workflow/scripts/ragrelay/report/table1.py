"""Build the paper's Table 1: each cell's mean utility and mean P, with marks for significant differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import polars as pl

from ragrelay.analysis.significance import AGAINST_ASCENDING, AGAINST_REFERENCE
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, CONTEXT_COLUMNS, boolean, number, schema_of, text
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.report.display.numbers import number as shown_number
from ragrelay.report.display.sections import Section

QUANTITIES = {"utility": "mean_utility", "p": "mean_p"}
"""Maps a quantity, named as in significance.csv, to its column in utility.csv."""
COLUMNS = {
    "retriever": CONTEXT_COLUMNS["retriever"],
    "ordering": CONTEXT_COLUMNS["ordering"],
    "quantity": text("quantity whose mean is in `value`: `utility` or `p`"),
    "references": CELL_COLUMNS["references"],
    "k": CONTEXT_COLUMNS["k"],
    "value": number("mean of the quantity over queries"),
    "marks": text("† or ‡ for each significant test in `significance.csv`"),
    "best": boolean("whether the printed value is the highest among the rows with the same quantity, references and k"),
}  # fmt: skip
MARKS = (AGAINST_REFERENCE, AGAINST_ASCENDING)
DIGITS = 3
UNSEEN_NOTE = "each retriever has its own reference set, without the passages in its contexts"
"""The note on comparing retrievers on unseen references."""


@dataclass(frozen=True)
class Value:
    """A mean (None if no query has a value), with marks such as ``†‡`` and a flag for the best mean in a column."""

    value: float | None
    marks: str = ""
    best: bool = False

    def __str__(self) -> str:
        return shown_number(self.value, DIGITS) + self.marks


@dataclass(frozen=True)
class Row:
    """A row of Table 1: the values for a retriever and an ordering."""

    retriever: str
    ordering: str
    cells: dict[str, tuple[Value, ...]]
    """For each quantity, one Value per column (grade, k) of the table."""


@dataclass(frozen=True)
class Table1:
    """Table 1, for all references or for unseen references."""

    grades: tuple[str, ...]
    k: tuple[int, ...]
    zero_shot: tuple[float | None, ...]
    """The zero-shot answers' mean P per grade; empty for unseen grades, where it depends on the context."""
    rows: tuple[Row, ...]
    legend: tuple[tuple[str, str], ...] = ()
    """The marks that can occur in this grid, each with its meaning."""

    @property
    def has_utility(self) -> bool:
        return any(value.value is not None for row in self.rows for value in row.cells["utility"])

    @property
    def columns(self) -> list[tuple[str, int]]:
        return [(grade, k) for grade in self.grades for k in self.k]


def table1(section: Section, unseen: bool = False) -> Table1:
    """Build a section's Table 1, for all references or for unseen references.

    A mark means that a test in significance.csv is significant. As in the paper, ‡ is in the ascending ordering's row.
    """
    grid, grades = section.grid, section.unseen if unseen else section.grades
    by_cell = {
        (row["retriever"], row["ordering"], row["references"], row["k"]): row
        for row in section["utility"].iter_rows(named=True)
    }  # fmt: skip
    marks = _marks(section["significance"])
    rows = []
    for retriever in grid.retrievers:
        for ordering in grid.orderings:
            places = [(retriever, ordering, grade, k) for grade in grades for k in grid.k]
            if not any(place in by_cell for place in places):
                continue
            cells = {
                quantity: tuple(
                    Value(by_cell.get(place, {}).get(column), marks.get((*place, quantity), "")) for place in places
                )
                for quantity, column in QUANTITIES.items()
            }
            rows.append(Row(retriever, ordering, cells))
    rows = _with_best(rows)
    zero_shot = [by_cell.get((ZEROSHOT, NO_ORDERING, grade, 0), {}).get("mean_p") for grade in grades]
    legend = _legend(section.reference_retriever, grid.orderings, unseen)
    return Table1(grades, grid.k, () if unseen else tuple(zero_shot), tuple(rows), legend)


unseen_table1 = partial(table1, unseen=True)


def _legend(reference_retriever: str | None, orderings: Sequence[str], unseen: bool) -> tuple[tuple[str, str], ...]:
    legend = []
    if reference_retriever is not None:
        meaning = f"differs from {reference_retriever} (descending, same k and grade)"
        legend.append((MARKS[0], meaning + (f"; {UNSEEN_NOTE}" if unseen else "")))
    if {"descending", "ascending"} <= set(orderings):
        legend.append((MARKS[1], "ascending differs from descending"))
    return tuple(legend)


def table1_frame(section: Section, unseen: bool = False) -> pl.DataFrame:
    """Return Table 1 as a frame with a row per value, for all references or for unseen references.

    Zero-shot answers have retriever ``zeroshot``, ordering ``none``, quantity ``p`` and k = 0.
    """
    table = table1(section, unseen)
    records: list[tuple[str, str, str, str, int, float | None, str | None, bool | None]] = [
        (ZEROSHOT, NO_ORDERING, "p", grade, 0, value, None, None)
        for grade, value in zip(table.grades, table.zero_shot, strict=False)
    ]
    for row in table.rows:
        for quantity, cells in row.cells.items():
            for (grade, k), cell in zip(table.columns, cells, strict=True):
                place = (row.retriever, row.ordering, quantity, grade, k)
                records.append((*place, cell.value, cell.marks or None, cell.best))
    return pl.DataFrame(records, schema=schema_of(COLUMNS), orient="row")


unseen_table1_frame = partial(table1_frame, unseen=True)


def _with_best(rows: Sequence[Row]) -> list[Row]:
    """Mark the highest value of every column in ``rows``, and all values that look the same when printed."""
    highest: dict[tuple[str, int], float] = {}
    for row in rows:
        for quantity, cells in row.cells.items():
            for place, cell in enumerate(cells):
                value = -inf if cell.value is None else cell.value
                highest[quantity, place] = max(value, highest.get((quantity, place), -inf))

    def marked(quantity: str, place: int, cell: Value) -> Value:
        alike = shown_number(cell.value, DIGITS) == shown_number(highest[quantity, place], DIGITS)
        return replace(cell, best=cell.value is not None and alike)

    return [
        replace(row, cells={name: tuple(marked(name, place, cell) for place, cell in enumerate(cells))
                            for name, cells in row.cells.items()})
        for row in rows
    ]  # fmt: skip


def _marks(significance: pl.DataFrame) -> dict[tuple[str, str, str, int, str], str]:
    marks: dict[tuple[str, str, str, int, str], str] = {}
    for mark in MARKS:
        rows = significance.filter(pl.col("mark") == mark, pl.col("significant"))
        for row in rows.iter_rows(named=True):
            ordering = row["against_ordering" if mark == AGAINST_ASCENDING else "ordering"]
            place = (row["retriever"], ordering, row["references"], row["k"], row["quantity"])
            marks[place] = marks.get(place, "") + mark
    return marks
