"""Build the page's tables of utility, of correlations between measures and utility, and of significance tests."""

import polars as pl

from ragrelay.analysis.correlation import COLUMNS as CORRELATION
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.summary import COLUMNS as UTILITY
from ragrelay.base.vocabulary.columns import CELL, CELL_COLUMNS
from ragrelay.base.vocabulary.names import UNSEEN
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
    yes_no,
)
from ragrelay.report.figures_by_k import COEFFICIENTS, SUBSETS

WIDE = ("value", "low", "high", "p_value", "p_holm")
DECIDED = ("p_permutation", "p_permutation_holm", "verdict")
"""The columns of each coefficient, and the extra columns of the coefficient with a verdict."""
WIDE_CORRELATION = {
    **CELL_COLUMNS,
    "measure": CORRELATION["measure"],
    "subset": CORRELATION["subset"],
    **{
        name if column == "value" else f"{name}_{column}": CORRELATION[column]._replace(
            about=f"{title}: {CORRELATION[column].about}"
        )
        for name, title in COEFFICIENTS.items()
        for column in WIDE
    },
    **{name: CORRELATION[name] for name in DECIDED},
    **{name: CORRELATION[name] for name in ("n", "n_null", "reason")},
}
"""The columns of ``wide_correlation``."""
SEEN = ("n", "mean_utility", "low", "high")
COPYING = {
    **CELL_COLUMNS,
    "share_best_in_context": UTILITY["share_best_in_context"],
    **{name: UTILITY[name] for name in SEEN},
    **{f"unseen_{name}": UTILITY[name]._replace(about=f"on unseen references: {UTILITY[name].about}") for name in SEEN},
}
"""The columns of ``copying_frame``."""


def wide_correlation(section: Section) -> pl.DataFrame:
    """Reshape correlation.csv so that all three coefficients of a cell are in one row (columns WIDE_CORRELATION).

    If several coefficients have a reason or a remark, the row contains only the first one.
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
        .agg(pl.col("n").first(), pl.col("n_null").first(), pl.coalesce("reason", "remark").drop_nulls().first())
    )
    frame = rest.select(keys)
    for part in [*parts, rest]:
        frame = frame.join(part, on=keys, how="left", maintain_order="left")
    return section.ordered(frame.select(*WIDE_CORRELATION))


def correlation_table(section: Section, most_rows: int | None = None) -> Table:
    titles = dict(zip(COEFFICIENTS, ("Pearson’s r", "Spearman’s ρ", "Kendall’s τ-b"), strict=True))
    return table_of(
        wide_correlation(section), *OF_CELL, name("measure"),
        Column("queries", False, True, SUBSETS["all"], lambda row: SUBSETS[row["subset"]]),
        *(between(title, column, 2, (f"{column}_low", f"{column}_high")) for column, title in titles.items()),
        name("ρ is", "verdict"), numeric("p (ρ)", "p_permutation", p_value),
        numeric("Holm (ρ)", "p_permutation_holm", p_value), numeric("n", "n", count),
        *(numeric(f"{what} ({sign})", f"{column}_p_{key}", p_value)
          for column, sign in (("pearson", "r"), ("kendall", "τ"))
          for what, key in (("p", "value"), ("Holm", "holm"))),
        REMARK, most=most_rows, later=(pl.col("subset") != "all") | LATER,
    )  # fmt: skip


def significance_table(section: Section, most_rows: int | None = None) -> Table:
    return table_of(
        section.rows("significance"), name("mark"), *OF_CELL,
        textual("against", lambda row: f"{row['against_retriever']} {row['against_ordering']}"),
        name("quantity", chosen="p"), numeric("n", "n", count), between("mean difference", "mean_difference"),
        numeric("Cohen’s dz", "d_z", number, 2), numeric("t", "t", number, 2), numeric("p", "p_value", p_value),
        numeric("p, Holm", "p_holm", p_value), numeric("p, BH", "p_bh", p_value),
        numeric("tests in family", "family_size", count), yes_no("p < 0.05", "significant"), REMARK,
        most=most_rows, later=(pl.col("quantity") != "p") | LATER,
    )  # fmt: skip


def cell_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of every cell's P, utility and measures, for all reference sets."""
    frame = section.ordered(section["utility"].filter(pl.col("retriever").is_in(section.grid.retrievers)))
    return table_of(
        frame, *OF_CELL, numeric("queries", "n", count), numeric("mean P", "mean_p"), numeric("mean P₀", "mean_p0"),
        numeric("mean utility", "mean_utility"),
        Column("interval", True, text=lambda row: interval(row["low"], row["high"])),
        numeric("median utility", "median_utility"), numeric("no utility", "n_null", count),
        numeric("P₀ < 0.1", "n_low_p0", count), numeric("best in context", "share_best_in_context", share),
        numeric("unjudged", "share_unjudged", share),
        *(numeric(f"mean {measure}@k", measure) for measure in section.grid.measures if measure in frame.columns),
        most=most_rows, later=LATER,
    )  # fmt: skip


def copying_frame(section: Section) -> pl.DataFrame:
    """Return how often contexts contain the best-matching reference, and utility for all and for unseen references."""
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
    return table_of(
        copying_frame(section), *OF_CELL, numeric("best in context", "share_best_in_context", share),
        numeric("queries", "n", count), between("mean utility", "mean_utility"),
        numeric("queries, unseen", "unseen_n", count),
        between("mean utility, unseen", "unseen_mean_utility", ends=("unseen_low", "unseen_high")),
    )  # fmt: skip
