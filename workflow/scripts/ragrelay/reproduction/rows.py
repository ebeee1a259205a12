"""The tables and figures of the papers that a study is compared with: which can be had, where, and how they differ."""

import csv
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from ragrelay.vocabulary.columns import schema_of, text

ROWS = {
    "paper": text("authors and year"),
    "item": text("table or figure of the paper"),
    "about": text("what it shows"),
    "state": text("`as printed`, `differs` or `out of reach`"),
    "because": text("how it differs, or why it is out of reach"),
    "place": text("the file that has it, below the results"),
    "command": text("the command that makes it"),
}
"""Columns of rows.csv."""


def list_published_rows(path: str | Path, published: Iterable[str | Path]) -> pl.DataFrame:
    """ROWS: of the file ``path``, those of each paper that one of the files ``published`` is of.

    A row's column ``printed`` names the file with its printed values; files of other names are of none of the papers.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = {Path(table).name for table in published}
    papers = {row["paper"] for row in rows if row["printed"] in names}
    return pl.DataFrame([row for row in rows if row["paper"] in papers], schema=schema_of(ROWS))
