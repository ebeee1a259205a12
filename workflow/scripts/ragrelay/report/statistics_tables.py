"""Build the page's tables of differences between correlations and of the variance of P due to seeds."""

from ragrelay.report.display.numbers import count, interval, number, p_value, share
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import (
    LATER,
    OF_CELL,
    REMARK,
    Column,
    Table,
    between,
    name,
    numeric,
    table_of,
    textual,
)


def differences_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of comparisons between correlations, including trends over k, from differences.csv."""
    return table_of(
        section.rows("differences"), name("compared", "comparison", "retrievers"), *OF_CELL,
        textual("against", lambda row: f"{row['against_retriever']} {row['against_ordering']}, k = {row['against_k']}"),
        name("measure"), numeric("n", "n", count), numeric("r", "value", number, 2),
        numeric("r, against", "against_value", number, 2), between("difference", "difference", 2),
        numeric("p", "p_value", p_value), numeric("p, Holm", "p_holm", p_value), numeric("p, BH", "p_bh", p_value),
        REMARK, most=most_rows, later=LATER,
    )  # fmt: skip


def variance_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of each cell's variance of P due to queries and to seeds. With one seed, the table is empty."""
    rows = section.rows("variance")
    return table_of(
        rows if len(section.grid.seeds) > 1 else rows.clear(), *OF_CELL, numeric("queries", "n", count),
        numeric("seeds", "n_seeds", number, 1),
        numeric("variance, queries", "variance_queries", number, 4),
        numeric("variance, seeds", "variance_seeds", number, 4), numeric("share due to seeds", "share_seeds", share),
        numeric("reliability", "reliability", number, 2),
        Column("interval", True, text=lambda row: interval(row["low"], row["high"], 2)), REMARK,
        most=most_rows, later=LATER,
    )  # fmt: skip
