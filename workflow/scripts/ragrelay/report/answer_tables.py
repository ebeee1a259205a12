"""The page's tables of what answers are like: their lengths, ends, and cost."""

import polars as pl

from ragrelay.display.numbers import count, number, share
from ragrelay.display.sections import Section
from ragrelay.display.tables import Column, Table
from ragrelay.report.lengths import ENDS


def length_table(section: Section, most_rows: int | None = None) -> Table:
    """Per cell: tokens of its answers, and how they end."""
    frame = section["lengths"]
    rows = [
        [row["retriever"], row["ordering"], str(row["k"]), count(row["n"]), number(row["mean_tokens"], 1),
         number(row["median"], 1), number(row["q05"], 0), number(row["q95"], 0),
         *(share(row[end] / row["n"]) for end in ENDS), count(row["blank"])]
        for row in frame.head(most_rows or frame.height).iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("retriever", filtered=True), Column("ordering", filtered=True), Column("k", True, True),
               Column("answers", True), Column("mean tokens", True), Column("median", True), Column("5%", True),
               Column("95%", True), *(Column(said, True) for said in ENDS.values()), Column("blank", True)]  # fmt: skip
    return Table(columns, rows, frame.height - len(rows))


def cost_table(section: Section) -> Table:
    """Per retriever, and for all answers, each counted once."""
    rows = [
        [row["retriever"], count(row["answers"]), count(row["prompt_tokens"]),
         share(row["cached_tokens"] / row["prompt_tokens"] if row["prompt_tokens"] else None),
         count(row["answer_tokens"]), number(row["device_seconds"], 1), row["made_by"]]
        for row in section["cost"].filter(pl.col("k").is_null()).iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("retriever"), Column("distinct answers", True), Column("prompt tokens", True),
               Column("from the cache", True), Column("answer tokens", True), Column("device-seconds", True),
               Column("made by")]  # fmt: skip
    return Table(columns, rows)
