"""The comparison's tables on its page: the queries that changed most, and every test."""

import polars as pl

from ragrelay.compare.compared import Compared
from ragrelay.compare.paired import SAME
from ragrelay.display.numbers import count, number, p_value, with_interval
from ragrelay.display.tables import Column, Table, cell_columns

SHARE = 5
"""Rows of tests per row of queries, which are in queries.csv and in the figure too."""


def test_table(compared: Compared, most_rows: int) -> Table:
    """Paired tests of the change, a row per cell and quantity; at most ``most_rows``."""
    rows = [
        [row["retriever"], row["ordering"], str(row["k"]), row["references"], row["quantity"], row["verdict"] or "",
         with_interval(row["mean_difference"], row["low"], row["high"]), count(row["n"]), number(row["mean_before"]),
         number(row["mean_after"]), number(row["d_z"], 2),
         count(row["up"]), count(row["down"]), p_value(row["p_verdict"]), p_value(row["p_holm"]), p_value(row["p_bh"]),
         p_value(row["p_t"]), p_value(row["p_wilcoxon"]), p_value(row["p_permutation"]), count(row["family_size"]),
         count(row["n_unpaired"]), row["reason"] or ""]
        for row in compared.tests.head(most_rows).iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_cell_columns(), Column("verdict", filtered=True), Column("mean change", True), Column("queries", True),
               Column("mean before", True), Column("mean after", True), Column("d_z", True), Column("up", True),
               Column("down", True), Column("p", True), Column("p, Holm", True), Column("p, BH", True),
               Column("p, t-test", True), Column("p, Wilcoxon", True), Column("p, permutation", True),
               Column("tests in family", True), Column("unpaired", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, compared.tests.height - len(rows))


def moved_table(compared: Compared, most_rows: int) -> Table:
    """The queries that changed most, of every quantity and cell, the largest change first; a share of ``most_rows``."""
    queries = compared.queries
    moved = queries.filter(pl.col("difference").abs() > SAME).sort(
        pl.col("difference").abs(), descending=True, maintain_order=True
    )
    some = [part.head(max(1, most_rows // SHARE // max(1, queries["quantity"].n_unique())))
            for part in moved.partition_by("quantity", maintain_order=True)]  # fmt: skip
    shown = pl.concat(some) if some else moved
    rows = [
        [row["qid"], row["query"], row["retriever"], row["ordering"], str(row["k"]), row["references"],
         row["quantity"], number(row["before"]), number(row["after"]), number(row["difference"])]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("qid"), Column("query"), *_cell_columns(), Column("before", True), Column("after", True),
               Column("change", True)]  # fmt: skip
    return Table(columns, rows, moved.height - shown.height)


def _cell_columns() -> list[Column]:
    return [*cell_columns(), Column("quantity", filtered=True, chosen="utility")]
