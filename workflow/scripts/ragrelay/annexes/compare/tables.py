"""Build the comparison page's tables: the queries that changed most, and the tests."""

import polars as pl

from ragrelay.annexes.compare.compared import Compared
from ragrelay.annexes.compare.paired import DECIDES, SAME
from ragrelay.report.display.numbers import count, number, p_value
from ragrelay.report.display.tables import OF_CELL, REMARK, Table, between, name, numeric, table_of, textual

SHARE = 5
"""How many times longer the table of tests may be than the table of queries, whose values the figure also shows."""
PLACE = (*OF_CELL, name("quantity", chosen="utility"))


def test_table(compared: Compared, most_rows: int) -> Table:
    """Show the paired tests, with a row per cell and quantity and at most ``most_rows`` rows."""
    return table_of(
        compared.tests, *PLACE, name("verdict"), between("mean change", "mean_difference"),
        numeric("queries", "n", count), numeric("mean before", "mean_before"), numeric("mean after", "mean_after"),
        numeric("d_z", "d_z", number, 2), numeric("up", "up", count), numeric("down", "down", count),
        numeric("p, verdict", "p_verdict", p_value), numeric("p, Holm", "p_holm", p_value),
        numeric("p, BH", "p_bh", p_value), numeric("p, t-test", "p_t", p_value),
        numeric("p, Wilcoxon", "p_wilcoxon", p_value), numeric("p, permutation", "p_permutation", p_value),
        numeric("tests in family", "family_size", count), numeric("unpaired", "n_unpaired", count),
        REMARK, most=most_rows,
    )  # fmt: skip


def moved_table(compared: Compared, most_rows: int) -> Table:
    """Show the queries whose P changed, the number of cells in which P changed, and the cell with the largest change.

    P on unseen references is ignored, because it may change with the context even if the answer doesn't change.
    """
    seen = pl.col("references").is_in(list(compared.references))
    known = compared.queries.filter(seen, quantity=DECIDES).drop_nulls("difference")
    known = known.with_columns(size=pl.col("difference").abs(), moved=pl.col("difference").abs() > SAME)
    counts = known.group_by("qid").agg(n_moved=pl.col("moved").sum(), cells=pl.len())
    first = known.filter("moved").sort("size", descending=True, maintain_order=True).unique("qid", maintain_order=True)
    return table_of(
        first.join(counts, on="qid", how="left", maintain_order="left"), textual("qid", "qid"),
        textual("query", "query"), numeric("cells with changed P", "n_moved", count),
        numeric("of cells", "cells", count), *OF_CELL,
        numeric("P before", "before"), numeric("P after", "after"), numeric("change", "difference"),
        most=most_rows // SHARE,
    )  # fmt: skip
