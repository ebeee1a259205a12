"""Build the page's tables that compare retrieval measures."""

import polars as pl

from ragrelay.annexes.measure_comparison.study import MeasuresShown
from ragrelay.report.display.numbers import count, p_value, share
from ragrelay.report.display.tables import Table, between, depth, name, numeric, table_of, textual


def fit_table(study: MeasuresShown, most_rows: int | None = None) -> Table:
    """Show how closely each measure tracks answer quality in each cell."""
    rows = study["measure_fit"].sort("ordering", "k", "references", pl.col("r").neg(), nulls_last=True)
    return table_of(
        rows, name("ordering"), depth(chosen=str(study.cell["k"])), name("references"), name("measure"),
        between("r", "r"), numeric("r²", "r2"), name("verdict"), name("relay"), numeric("tied", "share_tied", share),
        numeric("queries", "n", count), textual("remark", "reason"), most=most_rows,
    )  # fmt: skip


def pair_table(study: MeasuresShown, most_rows: int | None = None) -> Table:
    """Show each comparison of two measures in each cell."""
    return table_of(
        study["measure_pairs"], name("ordering"), depth(chosen=str(study.cell["k"])), name("references"),
        name("measure"), name("against", "against_measure"), between("difference", "difference"), name("verdict"),
        numeric("p", "p_value", p_value), textual("remark", "reason"), most=most_rows,
    )  # fmt: skip
