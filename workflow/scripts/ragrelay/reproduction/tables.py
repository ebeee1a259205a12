"""The page's tables that compare a study with published ones."""

from typing import Any

import polars as pl

from ragrelay.display.numbers import count, interval, number, p_value, with_interval
from ragrelay.display.tables import Column, Table, cell_columns, cell_values
from ragrelay.reproduction.cells import MARKS
from ragrelay.reproduction.measures import EFFECTS
from ragrelay.reproduction.study import Reproduction

BESIDE = [Column("published", True), Column("ours", True), Column("95%", True), Column("difference", True),
          Column("inside", filtered=True)]  # fmt: skip
PART = ("dataset", "generator", "scorer")


def cell_table(shown: Reproduction) -> Table:
    """Cells with their marks."""
    part = _part(shown["reproduced_cells"])
    rows = [
        [*(row[name] for name in part), row["quantity"], *cell_values(row), *_beside(row, 4), _marks(row, ""),
         _marks(row, "published_"), _truth(row["marks_agree"])]
        for row in shown["reproduced_cells"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_named(*part, "quantity"), *cell_columns(), *BESIDE, Column("our marks"), Column("published marks"),
               Column("marks agree", filtered=True)]  # fmt: skip
    return Table(columns, rows)


def summary_table(shown: Reproduction) -> Table:
    """Agreement per dataset and over all."""
    part = _part(shown["reproduced_summary"])
    rows = [
        [*(row[name] for name in part), f"{count(row['n'])} of {count(row['n_published'])}",
         f"{count(row['n_inside'])} of {count(row['n_with_interval'])}", number(row["mean_difference"], 4),
         number(row["rmse"], 4), number(row["kendall"], 2), number(row["spearman"], 2),
         f"{count(row['n_dagger_agree'])} of {count(row['n_dagger'])}",
         f"{count(row['n_double_dagger_agree'])} of {count(row['n_double_dagger'])}", row["reason"] or ""]
        for row in shown["reproduced_summary"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_named(*part), Column("cells"), Column("published inside"), Column("mean difference", True),
               Column("RMSE", True), Column("τ of cells", True), Column("ρ of cells", True), Column("† agrees"),
               Column("‡ agrees"), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def effect_table(shown: Reproduction) -> Table:
    """Improvements, effect ratio and delta relative improvement."""
    part = _part(shown["reproduced_effects"])
    values = [name for name, column in EFFECTS.items() if column.dtype == pl.Float64]
    rows = [
        [*(row[name] for name in part), row["references"], row["retriever"], row["baseline"], count(row["n"]),
         *(number(row[name], 2 if name == "effect_ratio" or "relative" in name else 4) for name in values),
         row["reason"] or ""]
        for row in shown["reproduced_effects"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_named(*part, "references", "retriever"), Column("over"), Column("cells", True),
               Column("improvement", True), Column("published", True), Column("ER", True), Column("relative", True),
               Column("published relative", True), Column("ΔRI", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def finding_table(shown: Reproduction) -> Table:
    """The three findings with their tests."""
    part = _part(shown["reproduced_findings"])
    rows = [
        [row["finding"], *(row[name] for name in part), row["references"], row["of"], count(row["n"]),
         count(row["n_cells"]), with_interval(row["estimate"], row["low"], row["high"]), p_value(row["p_value"]),
         row["verdict"], row["reason"] or ""]
        for row in shown["reproduced_findings"].iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_named("finding", *part, "references"), Column("of"), Column("queries", True), Column("cells", True),
               Column("estimate", True), Column("p", True), Column("verdict", filtered=True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows)


def label_table(shown: Reproduction) -> Table:
    """Correlations with P."""
    names = (*_part(shown["reproduced_labels"]), "retriever", "source", "measure", "coefficient", "references")
    rows = [
        [*(row[name] for name in names), count(row["k"]), *_beside(row, 3)]
        for row in shown["reproduced_labels"].iter_rows(named=True)
    ]
    return Table([*_named(*names), Column("k", True), *BESIDE], rows)


def cost_table(shown: Reproduction) -> Table:
    """Seconds and their ratio."""
    rows = [
        [row["dataset"], row["generator"], row["what"], number(row["value"], 2), number(row["published"], 2)]
        for row in shown["reproduced_label_cost"].iter_rows(named=True)
    ]
    return Table([*_named("dataset", "generator", "what"), Column("ours", True), Column("published", True)], rows)


def claim_table(shown: Reproduction) -> Table:
    """Mean ACU."""
    rows = [
        [row["claims"], row["generator"], row["template"], count(row["n"]), *_beside(row, 3)]
        for row in shown["reproduced_claims"].iter_rows(named=True)
    ]
    return Table([*_named("claims", "generator", "template"), Column("pairs", True), *BESIDE], rows)


def _part(frame: pl.DataFrame) -> list[str]:
    """The names of the part of the study that its rows differ in."""
    return [name for name in PART if frame[name].n_unique() > 1]


def _named(*names: str) -> list[Column]:
    return [Column(name, filtered=True) for name in names]


def _beside(row: dict[str, Any], digits: int) -> list[str]:
    return [number(row["published"], digits), number(row["value"], digits), interval(row["low"], row["high"], digits),
            number(row["difference"], digits), _truth(row["inside"])]  # fmt: skip


def _marks(row: dict[str, Any], prefix: str) -> str:
    return "".join(mark for column, mark in MARKS.items() if row[prefix + column])


def _truth(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
