"""Write the cells of a published table and our values as LaTeX (booktabs), over as many pages as needed."""

from typing import Any

from ragrelay.annexes.reproduction.cells import MARKS
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.report.display.numbers import interval, number
from ragrelay.report.latex import escape, in_latex, line, raised
from ragrelay.report.latex_long import long_table

NAMES = ("dataset", "retriever", "ordering", "k", "references")
DIGITS = 4


def cells_latex(shown: Reproduction) -> str:
    """Write each cell: our value, interval and marks; the published value (bold if in the interval); the difference."""
    cells = shown["reproduced_cells"]
    several = [name for name in ("generator", "scorer") if cells[name].n_unique() > 1]
    names = [*several, "quantity", *NAMES]
    head = line([*names, "ours", r"95\%", "published", "difference"])
    body = [
        line([*(escape(str(row[name])) for name in names), in_latex(number(row["value"], DIGITS)) + _marks(row, ""),
              in_latex(interval(row["low"], row["high"], DIGITS)), _published(row),
              in_latex(number(row["difference"], DIGITS))])
        for row in cells.iter_rows(named=True)
    ]  # fmt: skip
    caption = (
        "Our values and the published ones; bold: the published value is in our 95\\% interval. "
        "$^{\\dagger}$ differs from the reference retriever, $^{\\ddagger}$ ascending differs from descending."
    )
    return long_table("l" * len(names) + "rrrr", caption, head, body)


def _published(row: dict[str, Any]) -> str:
    text = in_latex(number(row["published"], DIGITS))
    return (rf"\textbf{{{text}}}" if row["inside"] else text) + _marks(row, "published_")


def _marks(row: dict[str, object], prefix: str) -> str:
    marks = "".join(raised(mark) for column, mark in MARKS.items() if row[prefix + column])
    return rf"\rlap{{{marks}}}" if marks else ""
