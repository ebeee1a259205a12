"""The page's tables of correlations compared, and of how much of P's variance the seeds make."""

import polars as pl

from ragrelay.display.numbers import count, interval, number, p_value, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.display.tables import Column, Table, cell_columns, cell_values, first_rows
from ragrelay.vocabulary.names import UNSEEN


def differences_table(section: Section, most_rows: int | None = None) -> Table:
    """Every two correlations that differences.csv compares, and the trends over k."""
    frame = section.rows("differences")
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [row["comparison"], *cell_values(row),
         f"{row['against_retriever']} {row['against_ordering']}, k = {row['against_k']}", row["measure"],
         count(row["n"]), number(row["value"], 2), number(row["against_value"], 2),
         with_interval(row["difference"], row["low"], row["high"], 2), p_value(row["p_value"]), p_value(row["p_holm"]),
         p_value(row["p_bh"]), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("compared", filtered=True, chosen="retrievers"), *cell_columns(), Column("against"),
               Column("measure", filtered=True), Column("n", True), Column("r", True), Column("r, against", True),
               Column("difference", True), Column("p", True), Column("p, Holm", True), Column("p, BH", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def variance_table(section: Section, most_rows: int | None = None) -> Table:
    """Per cell, the components of P's variance."""
    frame = section.rows("variance")
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [*cell_values(row), count(row["n"]), number(row["n_seeds"], 1), number(row["variance_queries"], 4),
         number(row["variance_seeds"], 4), share(row["share_seeds"]), number(row["reliability"], 2),
         interval(row["low"], row["high"], 2), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("queries", True), Column("seeds", True), Column("variance, queries", True),
               Column("variance, seeds", True), Column("share of the seeds", True), Column("reliability", True),
               Column("interval", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)
