"""Make the comparison page's tables: the queries that changed most, and every test."""

from dataclasses import replace

import polars as pl

from ragrelay.annexes.compare.compared import Compared
from ragrelay.annexes.compare.paired import SAME
from ragrelay.report.display.numbers import count, number, p_value
from ragrelay.report.display.tables import OF_CELL, REMARK, Table, between, name, numeric, table_of, textual

SHARE = 5
"""Rows of tests per row of queries, since queries are also in queries.csv and in the figure."""
PLACE = (*OF_CELL, name("quantity", chosen="utility"))


def test_table(compared: Compared, most_rows: int) -> Table:
    """Show paired tests of the change, a row per cell and quantity; at most ``most_rows``."""
    return table_of(
        compared.tests, *PLACE, name("verdict"), between("mean change", "mean_difference"),
        numeric("queries", "n", count), numeric("mean before", "mean_before"), numeric("mean after", "mean_after"),
        numeric("d_z", "d_z", number, 2), numeric("up", "up", count), numeric("down", "down", count),
        numeric("p", "p_verdict", p_value), numeric("p, Holm", "p_holm", p_value), numeric("p, BH", "p_bh", p_value),
        numeric("p, t-test", "p_t", p_value), numeric("p, Wilcoxon", "p_wilcoxon", p_value),
        numeric("p, permutation", "p_permutation", p_value), numeric("tests in family", "family_size", count),
        numeric("unpaired", "n_unpaired", count), REMARK, most=most_rows,
    )  # fmt: skip


def moved_table(compared: Compared, most_rows: int) -> Table:
    """Show the queries that changed most in any cell, largest change first; each quantity has a share of the rows."""
    queries = compared.queries
    moved = queries.filter(pl.col("difference").abs() > SAME).sort(
        pl.col("difference").abs(), descending=True, maintain_order=True
    )
    parts = [part.head(max(1, most_rows // SHARE // max(1, queries["quantity"].n_unique())))
             for part in moved.partition_by("quantity", maintain_order=True)]  # fmt: skip
    table = table_of(
        pl.concat(parts) if parts else moved, textual("qid", "qid"), textual("query", "query"), *PLACE,
        numeric("before", "before"), numeric("after", "after"), numeric("change", "difference"),
    )  # fmt: skip
    return replace(table, left=moved.height - len(table.rows))
