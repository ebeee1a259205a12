"""The page's tables of utility, of its correlation with the context's measures, and of the tests behind the marks."""

import polars as pl

from ragrelay.analysis.correlation import COLUMNS as CORRELATION
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.summary import COLUMNS as UTILITY
from ragrelay.display.numbers import count, interval, number, p_value, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.display.tables import Column, Table, cell_columns, cell_values, first_rows
from ragrelay.report.figures_by_k import COEFFICIENTS, SUBSETS
from ragrelay.vocabulary.columns import CELL, CELL_COLUMNS
from ragrelay.vocabulary.names import UNSEEN

WIDE = ("value", "low", "high", "p_value", "p_holm")
DECIDED = ("p_permutation", "p_permutation_holm", "verdict")
"""Columns of each coefficient, and of the one that has a verdict."""
WIDE_CORRELATION = {
    **CELL_COLUMNS,
    "measure": CORRELATION["measure"],
    "subset": CORRELATION["subset"],
    **{
        name if column == "value" else f"{name}_{column}": CORRELATION[column]._replace(
            about=f"{said}: {CORRELATION[column].about}"
        )
        for name, said in COEFFICIENTS.items()
        for column in WIDE
    },
    **{name: CORRELATION[name] for name in DECIDED},
    **{name: CORRELATION[name] for name in ("n", "n_null", "reason")},
}
"""Columns of ``wide_correlation``."""
SEEN = ("n", "mean_utility", "low", "high")
COPYING = {
    **CELL_COLUMNS,
    "share_best_in_context": UTILITY["share_best_in_context"],
    **{name: UTILITY[name] for name in SEEN},
    **{f"unseen_{name}": UTILITY[name]._replace(about=f"on unseen references: {UTILITY[name].about}") for name in SEEN},
}
"""Columns of ``copying_frame``."""


def wide_correlation(section: Section) -> pl.DataFrame:
    """correlation.csv with a cell's three coefficients in one row.

    Columns WIDE_CORRELATION; the reason is of the first coefficient that has one.
    """
    keys = [*CELL, "measure", "subset"]
    parts = []
    for coefficient in COEFFICIENTS:
        values = {name: coefficient if name == "value" else f"{coefficient}_{name}" for name in WIDE}
        values |= {name: name for name in DECIDED} if coefficient == DECIDES else {}
        rows = section["correlation"].filter(pl.col("coefficient") == coefficient)
        parts.append(rows.select(*keys, *(pl.col(name).alias(new) for name, new in values.items())))
    rest = (
        section["correlation"]
        .group_by(keys, maintain_order=True)
        .agg(pl.col("n").first(), pl.col("n_null").first(), pl.col("reason").drop_nulls().first())
    )
    frame = rest.select(keys)
    for part in [*parts, rest]:
        frame = frame.join(part, on=keys, how="left", maintain_order="left")
    return section.ordered(frame.select(*WIDE_CORRELATION))


def correlation_table(section: Section, most_rows: int | None = None) -> Table:
    frame = wide_correlation(section)
    shown = first_rows(frame, most_rows, (pl.col("subset") != "all") | pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [*cell_values(row), row["measure"], SUBSETS[row["subset"]],
         *(with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], 2) for name in COEFFICIENTS),
         row["verdict"] or "", p_value(row["p_permutation"]), p_value(row["p_permutation_holm"]), count(row["n"]),
         p_value(row["pearson_p_value"]), p_value(row["pearson_p_holm"]), p_value(row["kendall_p_value"]),
         p_value(row["kendall_p_holm"]), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("measure", filtered=True),
               Column("queries", filtered=True, chosen=SUBSETS["all"]), Column("Pearson’s r", True),
               Column("Spearman’s ρ", True), Column("Kendall’s τ-b", True), Column("ρ is", filtered=True),
               Column("p (ρ)", True), Column("Holm (ρ)", True), Column("n", True), Column("p (r)", True),
               Column("Holm (r)", True), Column("p (τ)", True), Column("Holm (τ)", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def significance_table(section: Section, most_rows: int | None = None) -> Table:
    frame = section.rows("significance")
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
    return Table(columns, rows, frame.height - shown.height)


def cell_table(section: Section, most_rows: int | None = None) -> Table:
    """Every cell of utility.csv, the grades and their unseen companions."""
    frame = section.ordered(section["utility"].filter(pl.col("retriever").is_in(section.grid.retrievers)))
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    measures = [measure for measure in section.grid.measures if measure in frame.columns]
    rows = [
        [*cell_values(row), count(row["n"]), number(row["mean_p"]), number(row["mean_p0"]), number(row["mean_utility"]),
         interval(row["low"], row["high"]), number(row["median_utility"]), count(row["n_null"]),
         count(row["n_low_p0"]), share(row["share_best_in_context"]), share(row["share_unjudged"]),
         *(number(row[name]) for name in measures)]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("queries", True), Column("mean P", True), Column("mean P₀", True),
               Column("mean utility", True), Column("interval", True), Column("median utility", True),
               Column("no utility", True), Column("P₀ < 0.1", True), Column("best in context", True),
               Column("unjudged", True), *(Column(f"mean {name}@k", True) for name in measures)]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def copying_frame(section: Section) -> pl.DataFrame:
    """Per context and grade: how often the best reference was in the context, and utility without such references.

    Columns COPYING.
    """
    seen = section["utility"].filter(
        pl.col("references").is_in(section.grades), pl.col("retriever").is_in(section.grid.retrievers)
    )
    unseen = (
        section["utility"]
        .filter(pl.col("references").is_in(section.unseen))
        .select(
            *CELL[:3],
            pl.col("references").str.strip_suffix(UNSEEN),
            *(pl.col(name).alias(f"unseen_{name}") for name in SEEN),
        )
    )
    frame = seen.select(*CELL, "share_best_in_context", *SEEN)
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
    return Table(columns, rows)
