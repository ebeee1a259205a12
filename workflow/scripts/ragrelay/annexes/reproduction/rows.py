"""List the papers' tables and figures that a study is compared with: which it has, where, and how they differ."""

import csv
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from ragrelay.base.vocabulary.columns import schema_of, text

ROWS = {
    "paper": text("authors and year"),
    "item": text("the paper's table or figure"),
    "about": text("its topic"),
    "state": text("`as printed`, `differs` or `out of reach`"),
    "because": text("how it differs, or why it is out of reach"),
    "place": text("the file that has it, relative to the results"),
    "command": text("the command that makes it"),
}
"""Columns of rows.csv."""


def list_published_rows(path: str | Path, published: Iterable[str | Path]) -> pl.DataFrame:
    """Return the rows of the file ``path`` for the papers that the files ``published`` belong to: ROWS.

    A row's column ``printed`` names the file with its printed values. Files with other names belong to no paper.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {Path(table).name for table in published}
    papers = {row["paper"] for row in rows if row["printed"] in names}
    return pl.DataFrame([row for row in rows if row["paper"] in papers], schema=schema_of(ROWS))
