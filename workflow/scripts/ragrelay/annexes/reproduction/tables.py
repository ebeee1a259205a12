"""Build the page's tables that compare a study with published tables."""

import polars as pl

from ragrelay.annexes.reproduction.cells import MARKS
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.report.display.numbers import count, interval, number, p_value
from ragrelay.report.display.tables import (
    OF_CELL,
    REMARK,
    Column,
    Row,
    Table,
    between,
    name,
    numeric,
    table_of,
    textual,
    yes_no,
)

PART = ("dataset", "generator", "scorer")


def reproduced_cell_table(shown: Reproduction) -> Table:
    """Show the published utility of each cell and our utility, with the marks of the significance tests."""
    frame = shown["reproduced_cells"]
    return table_of(
        frame, *_part(frame), name("quantity"), *OF_CELL, *_compared(4),
        textual("our marks", lambda row: _marks(row, "")),
        textual("published marks", lambda row: _marks(row, "published_")), yes_no("marks agree", "marks_agree"),
    )  # fmt: skip


def row_table(shown: Reproduction) -> Table:
    """List the tables and figures in the papers with which the study is compared."""
    columns = [textual(column, column) for column in ("item", "about", "state", "because", "place")]
    return table_of(shown["reproduced_rows"], name("paper"), *columns)


def summary_table(shown: Reproduction) -> Table:
    """Show the measures of reproduction for each dataset and for all datasets together."""
    frame = shown["reproduced_summary"]
    return table_of(
        frame, *_part(frame), _of("cells", "n", "n_published"), _of("published inside", "n_inside", "n_with_interval"),
        numeric("mean difference", "mean_difference", number, 4), numeric("RMSE", "rmse", number, 4),
        numeric("τ of cells", "kendall", number, 2), numeric("ρ of cells", "spearman", number, 2),
        _of("† agrees", "n_dagger_agree", "n_dagger"), _of("‡ agrees", "n_double_dagger_agree", "n_double_dagger"),
        REMARK,
    )  # fmt: skip


def effect_table(shown: Reproduction) -> Table:
    """Show improvements, effect ratios and delta relative improvements."""
    frame = shown["reproduced_effects"]
    return table_of(
        frame, *_part(frame), name("references"), name("retriever"), textual("over", "baseline"),
        numeric("cells", "n", count), numeric("improvement", "improvement", number, 4),
        numeric("published", "published_improvement", number, 4), numeric("ER", "effect_ratio", number, 2),
        numeric("relative improvement", "relative_improvement", number, 2),
        numeric("published relative improvement", "published_relative_improvement", number, 2),
        numeric("ΔRI", "delta_relative_improvement", number, 2), REMARK,
    )  # fmt: skip


def finding_table(shown: Reproduction) -> Table:
    """Show the test of each of the paper's three findings."""
    frame = shown["reproduced_findings"]
    return table_of(
        frame, name("finding"), *_part(frame), name("references"), textual("of", "of"), numeric("queries", "n", count),
        numeric("cells", "n_cells", count), between("estimate", "estimate"), numeric("p", "p_value", p_value),
        name("verdict"), REMARK,
    )  # fmt: skip


def label_table(shown: Reproduction) -> Table:
    """Show the published correlations of labels with P, and our correlations."""
    frame, names = shown["reproduced_labels"], ("retriever", "source", "measure", "coefficient", "references")
    return table_of(frame, *_part(frame), *map(name, names), numeric("k", "k", count), *_compared(3))


def reproduced_cost_table(shown: Reproduction) -> Table:
    """Show our answer-generation times in seconds next to the published times, with their ratios."""
    names = map(name, ("dataset", "generator", "what"))
    values = numeric("ours", "value", number, 2), numeric("published", "published", number, 2)
    return table_of(shown["reproduced_label_cost"], *names, *values)


def claim_table(shown: Reproduction) -> Table:
    """Show the published mean ACU of each model and data set, and our mean ACU."""
    names = map(name, ("claims", "generator", "template"))
    return table_of(shown["reproduced_claims"], *names, numeric("pairs", "n", count), *_compared(3))


def _part(frame: pl.DataFrame) -> list[Column]:
    """Return the columns among dataset, generator and scorer that differ between rows."""
    return [name(title) for title in PART if frame[title].n_unique() > 1]


def _of(title: str, part: str, whole: str) -> Column:
    return textual(title, lambda row: f"{count(row[part])} of {count(row[whole])}")


def _compared(digits: int) -> list[Column]:
    return [
        numeric("published", "published", number, digits), numeric("ours", "value", number, digits),
        Column("95%", True, text=lambda row: interval(row["low"], row["high"], digits)),
        numeric("difference", "difference", number, digits), yes_no("inside", "inside"),
    ]  # fmt: skip


def _marks(row: Row, prefix: str) -> str:
    return "".join(mark for column, mark in MARKS.items() if row[prefix + column])
