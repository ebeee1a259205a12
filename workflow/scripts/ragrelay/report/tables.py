"""The page's plain tables, as text cells with what a reader may sort and filter by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ragrelay.display.numbers import MISSING, count, interval, number, p_value, share, with_interval
from ragrelay.report.lines import COEFFICIENTS
from ragrelay.report.study import UNSEEN, Section

CELL = ("retriever", "ordering", "k", "references")


@dataclass(frozen=True)
class Column:
    """``filtered``: the reader may filter by it; ``chosen``: the value it is first filtered by."""

    title: str
    numeric: bool = False
    filtered: bool = False
    chosen: str = ""


@dataclass(frozen=True)
class Table:
    """``left``: how many rows more the CSV file has than the page."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    left: int = 0
    notes: Sequence[str] = field(default_factory=tuple)


def wide_correlation(section: Section) -> pl.DataFrame:
    """correlation.csv with a cell's three coefficients beside each other.

    Columns: retriever, ordering, k, references, measure, subset, then value, low, high and p_value of each
    coefficient as e.g. ``pearson_low``, then n, n_null, reason (of the first coefficient that has one).
    """
    keys = [*CELL, "measure", "subset"]
    parts = []
    for coefficient in COEFFICIENTS:
        values = {name: coefficient if name == "value" else f"{coefficient}_{name}"
                  for name in ("value", "low", "high", "p_value")}  # fmt: skip
        rows = section.correlation.filter(pl.col("coefficient") == coefficient)
        parts.append(rows.select(*keys, *(pl.col(name).alias(new) for name, new in values.items())))
    rest = section.correlation.group_by(keys, maintain_order=True).agg(
        pl.col("n").first(), pl.col("n_null").first(), pl.col("reason").drop_nulls().first()
    )
    frame = rest.select(keys)
    for part in [*parts, rest]:
        frame = frame.join(part, on=keys, how="left", maintain_order="left")
    return section.ordered(frame)


def correlation_table(section: Section, most_rows: int | None = None) -> Table:
    frame = wide_correlation(section)
    shown = first_rows(frame, most_rows, (pl.col("subset") != "all") | pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [*cell_values(row), row["measure"], row["subset"],
         *(with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], 2) for name in COEFFICIENTS),
         count(row["n"]), p_value(row["pearson_p_value"]), p_value(row["spearman_p_value"]),
         p_value(row["kendall_p_value"]), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("measure", filtered=True), Column("queries", filtered=True, chosen="all"),
               Column("Pearson’s r", True), Column("Spearman’s ρ", True), Column("Kendall’s τ-b", True),
               Column("n", True), Column("p (r)", True), Column("p (ρ)", True), Column("p (τ)", True),
               Column("remark")]  # fmt: skip
    caption = "Correlation over queries of the context’s measure with utility, with intervals"
    return Table(caption, columns, rows, frame.height - shown.height)


def significance_table(section: Section, most_rows: int | None = None) -> Table:
    frame = section.ordered(section.significance)
    shown = first_rows(frame, most_rows, (pl.col("quantity") != "utility") | pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [row["mark"], *cell_values(row), f"{row['against_retriever']} {row['against_ordering']}", row["quantity"],
         count(row["n"]), with_interval(row["mean_difference"], row["low"], row["high"]), number(row["d_z"], 2),
         number(row["t"], 2), p_value(row["p_value"]), p_value(row["p_holm"]), p_value(row["p_bh"]),
         count(row["family_size"]), "" if row["significant"] is None else "yes" if row["significant"] else "no",
         row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("mark", filtered=True), *cell_columns(), Column("against"),
               Column("quantity", filtered=True, chosen="utility"), Column("n", True), Column("mean difference", True),
               Column("Cohen’s dz", True), Column("t", True), Column("p", True), Column("p, Holm", True),
               Column("p, BH", True), Column("tests in family", True), Column("p < 0.05", filtered=True),
               Column("remark")]  # fmt: skip
    return Table("Paired t-tests behind the marks † and ‡", columns, rows, frame.height - shown.height)


def cell_table(section: Section, most_rows: int | None = None) -> Table:
    """Every cell of utility.csv, the grades and their unseen companions."""
    frame = section.ordered(section.utility.filter(pl.col("retriever").is_in(section.grid.retrievers)))
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    measures = [measure for measure in section.grid.measures if measure in frame.columns]
    rows = [
        [*cell_values(row), count(row["n"]), number(row["mean_p"]), number(row["mean_p0"]), number(row["mean_utility"]),
         interval(row["low"], row["high"]), number(row["median_utility"]), count(row["n_null"]),
         count(row["n_low_p0"]), share(row["share_best_in_context"]), *(number(row[name]) for name in measures)]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("queries", True), Column("mean P", True), Column("mean P₀", True),
               Column("mean utility", True), Column("interval", True), Column("median utility", True),
               Column("no utility", True), Column("P₀ < 0.1", True), Column("best in context", True),
               *(Column(f"mean {name}@k", True) for name in measures)]  # fmt: skip
    return Table("Every cell of the study", columns, rows, frame.height - shown.height)


def copying_frame(section: Section) -> pl.DataFrame:
    """Per context and grade: how often the best reference stood in the context, and utility without such references.

    Columns: retriever, ordering, k, references, share_best_in_context, n, mean_utility, low, high, and the last four
    on the unseen references as ``unseen_n``, ...
    """
    values = ("n", "mean_utility", "low", "high")
    seen = section.utility.filter(
        pl.col("references").is_in(section.grades), pl.col("retriever").is_in(section.grid.retrievers)
    )
    unseen = section.utility.filter(pl.col("references").is_in(section.unseen)).select(
        *CELL[:3],
        pl.col("references").str.strip_suffix(UNSEEN),
        *(pl.col(name).alias(f"unseen_{name}") for name in values),
    )
    frame = seen.select(*CELL, "share_best_in_context", *values)
    return section.ordered(frame.join(unseen, on=CELL, how="left", maintain_order="left"))


def copying_table(section: Section) -> Table:
    rows = [
        [*cell_values(row), share(row["share_best_in_context"]), count(row["n"]),
         with_interval(row["mean_utility"], row["low"], row["high"]), count(row["unseen_n"]),
         with_interval(row["unseen_mean_utility"], row["unseen_low"], row["unseen_high"])]
        for row in copying_frame(section).iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("best in context", True), Column("queries", True),
               Column("mean utility", True), Column("queries, unseen", True),
               Column("mean utility, unseen", True)]  # fmt: skip
    return Table(
        "How often the best reference stood in the context, and utility without such references", columns, rows
    )


def records_table(caption: str, records: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> Table:
    """A table of JSON-like records; columns as they first appear, ``first`` before the others."""
    seen = list(dict.fromkeys(name for record in records for name in record))
    names = [*(name for name in first if name in seen), *(name for name in seen if name not in first)]
    numeric = {
        name for name in names
        if all(_is_number(record[name]) for record in records if record.get(name) is not None)
        and any(_is_number(record.get(name)) for record in records)
    }  # fmt: skip
    rows = [[_plain(record.get(name)) for name in names] for record in records]
    return Table(caption, [Column(name.replace("_", " "), name in numeric) for name in names], rows)


def first_rows(frame: pl.DataFrame, most_rows: int | None, later: pl.Expr) -> pl.DataFrame:
    """At most ``most_rows`` rows of ``frame``, in its order; those that are ``later`` go first when there are more."""
    if most_rows is None or frame.height <= most_rows:
        return frame
    placed = frame.with_row_index("place").sort(later, maintain_order=True).head(most_rows)
    return placed.sort("place").drop("place")


def cell_columns() -> list[Column]:
    """The columns that name a cell."""
    return [Column("retriever", filtered=True), Column("ordering", filtered=True), Column("k", True, True),
            Column("references", filtered=True)]  # fmt: skip


def cell_values(row: Mapping[str, Any]) -> list[str]:
    """What stands in ``cell_columns``."""
    return [row["retriever"], row["ordering"], str(row["k"]), row["references"]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, float):
        return number(value, 1)
    if isinstance(value, int) and not isinstance(value, bool):
        return count(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_plain(held)}" for name, held in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)
