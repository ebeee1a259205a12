"""List tables and figures (status, location and differences) in the papers that a study is compared with."""

import csv
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from ragrelay.base.vocabulary.columns import schema_of, text

ROWS = {
    "paper": text("authors and year of the paper"),
    "item": text("table or figure in the paper"),
    "about": text("topic of the table or figure"),
    "state": text("status of the reproduction: `as printed`, `differs` or `out of reach`"),
    "because": text("how this study's version differs, or why a reproduction is out of reach"),
    "place": text("file with this study's version, relative to the results folder"),
    "command": text("command that produces this study's version"),
}
"""Columns of rows.csv."""


def list_published_rows(path: str | Path, published: Iterable[str | Path]) -> pl.DataFrame:
    """Return the rows of the file ``path`` (columns ROWS) that belong to the papers with a file in ``published``.

    The column ``printed`` contains the name of the file with a paper's printed values.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {Path(table).name for table in published}
    papers = {row["paper"] for row in rows if row["printed"] in names}
    return pl.DataFrame([row for row in rows if row["paper"] in papers], schema=schema_of(ROWS))
