"""Build the page's tables of answer lengths and generation cost."""

from functools import partial

import polars as pl

from ragrelay.report.display.numbers import count, number, share
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import FROM_CACHE, OF_CELL, Row, Table, numeric, table_of, textual
from ragrelay.report.lengths import ENDS


def length_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of answer lengths (in tokens) and of how answers ended, with a row per cell."""
    return table_of(
        section["lengths"], *OF_CELL[:3], numeric("answers", "n", count),
        numeric("mean tokens", "mean_tokens", number, 1), numeric("median", "median", number, 1),
        numeric("5%", "q05", number, 0), numeric("95%", "q95", number, 0),
        *(numeric(title, partial(_share_of, end), share) for end, title in ENDS.items()),
        numeric("blank", "blank", count), most=most_rows,
    )  # fmt: skip


def cost_table(section: Section) -> Table:
    """Build the table of generation cost by retriever and in total, with each distinct answer counted once."""
    return table_of(
        section["cost"].filter(pl.col("k").is_null()), textual("retriever", "retriever"),
        numeric("distinct answers", "answers", count), numeric("prompt tokens", "prompt_tokens", count),
        FROM_CACHE, numeric("answer tokens", "answer_tokens", count),
        numeric("device-seconds", "device_seconds", number, 1), textual("made by", "made_by"),
    )  # fmt: skip


def _share_of(end: str, row: Row) -> float:
    share_of: float = row[end] / row["n"]
    return share_of
