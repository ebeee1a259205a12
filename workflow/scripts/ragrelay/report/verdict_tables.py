"""Build the page's tables of verdicts on gains, relay, retriever pairs, equivalence and correlations."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.analysis.pooled import COLUMNS as POOLED
from ragrelay.analysis.pooled import RELAY
from ragrelay.analysis.relay import ALL_RANKINGS
from ragrelay.analysis.systems import EXPLORATORY, PRIMARY, REFERENCE
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.base.vocabulary.columns import STUDY_PART, schema_of
from ragrelay.report.display.numbers import count, number, p_value, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import (
    LATER,
    OF_CELL,
    REMARK,
    Column,
    Table,
    between,
    cell_values,
    depth,
    first_rows,
    name,
    numeric,
    table_of,
    textual,
    yes_no,
)
from ragrelay.report.study import ReportedStudy

AT_EQUAL_LENGTH = "at equal length"
ROLES = {REFERENCE: "with the reference retriever"}
"""The page's names for roles, where they differ from systems.csv; on the page, a *reference* is a text."""
KEYS_OF_SLOPE = ("retrievers", "ordering", "k", "references", "measure", "labelling")
"""The columns that, together with ``adjusted``, identify a slope in relay.csv or holes.csv."""


def gain_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of each cell's gain (P − P₀), verdict and utility."""
    return table_of(
        section.rows("gain"), *OF_CELL, numeric("n", "n", count), name("verdict"), between("P − P₀", "mean_difference"),
        numeric("p, verdict", "p_verdict", p_value), numeric("p, Holm", "p_holm", p_value),
        numeric("p, t-test", "p_value", p_value), numeric("p, Wilcoxon", "p_wilcoxon", p_value),
        numeric("d_z", "d_z", number, 2), numeric("ΣP / ΣP₀ − 1", "ratio_of_means", share),
        numeric("mean U", "mean_utility"), numeric("median U", "median_utility"),
        textual("mean U has the opposite sign", lambda row: "yes" if row["utility_disagrees"] else ""),
        numeric("largest share of Σ|U|, query",
                lambda row: f"{share(row['largest_share'])} {row['largest_qid'] or ''}".strip(), str),
        REMARK, most=most_rows, later=LATER,
    )  # fmt: skip


def relay_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of relay's slopes (P per 0.1 of a measure), with unadjusted and adjusted slopes in the same row.

    Rows for single pairs are dropped first to save space. With only two rankings, the table has one row for the pair.
    """
    frame, pairs = section["relay"], pl.col("retrievers") != ALL_RANKINGS
    named = frame.filter(pairs)["retrievers"].unique()
    if len(section.rankings) == 2:
        only = named.item() if len(named) == 1 else ALL_RANKINGS
        frame = frame.filter(~pairs).with_columns(retrievers=pl.lit(only))
    return table_of(
        beside_adjusted(frame), name("retrievers"), name("ordering"), depth(), name("references"), name("measure"),
        *_slopes(), numeric("r", "r", number, 2), numeric("queries that differ", "n", count),
        numeric("effective queries", "n_eff", number, 1), BOTH_REMARKS, most=most_rows, later=pairs,
    )  # fmt: skip


def beside_adjusted(frame: pl.DataFrame) -> pl.DataFrame:
    """Move adjusted slopes next to the unadjusted slopes, into columns that end in ``_adjusted``."""
    keys = [key for key in KEYS_OF_SLOPE if key in frame.columns]
    measured = frame.filter(pl.col("adjusted").not_() | pl.col("adjusted").is_null())
    others = frame.filter("adjusted").drop("adjusted", *(name for name in STUDY_PART if name not in keys), strict=False)
    return measured.join(
        others, on=keys, how="left", suffix="_adjusted", nulls_equal=True, maintain_order="left"
    )  # fmt: skip


def systems_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of differences in mean P: the primary pair, then pairs with the reference, then other pairs."""
    roles = {role: place for place, role in enumerate((PRIMARY, REFERENCE, EXPLORATORY))}
    place = pl.col("role").replace_strict(roles, return_dtype=pl.Int64)
    frame = section.rows("systems").sort(place, maintain_order=True)
    shown = first_rows(frame, most_rows, pl.col("role") == EXPLORATORY)
    rows = []
    for row in shown.iter_rows(named=True):
        pair = [*cell_values(row), row["against_retriever"]]
        rows.append(
            [ROLES.get(row["role"], row["role"]), *pair, row["verdict"],
             with_interval(row["mean_difference"], row["low"], row["high"]),
             "" if row["level"] is None else f"{number(100 * row['level'], 1)}%", p_value(row["p_bonferroni"]),
             count(row["family_size"]), count(row["n"]), REMARK.text(row)]
        )  # fmt: skip
        if row["role"] == PRIMARY and row["length_ratio"] is not None:
            at_equal = with_interval(*(row[f"equal_length_{end}"] for end in ("difference", "low", "high")))
            rows.append([AT_EQUAL_LENGTH, *pair, "", at_equal, "95%", "", "", "", row["equal_length_reason"] or ""])
    columns = [Column("role", filtered=True), *OF_CELL, Column("against", filtered=True),
               Column("verdict", filtered=True), Column("difference in P", True), Column("level", True),
               Column("p, corrected", True), Column("pairs corrected for", True), Column("n", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def holes_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of relay's slopes over all rankings, for each assumption about the unjudged passages' labels."""
    return table_of(
        beside_adjusted(section["holes"]), depth(), name("labels", "labelling"),
        numeric("unjudged", "share_unjudged", share),
        numeric("assumed relevant", lambda row: row, lambda row: f"{row['relevant']} of {row['holes']}"),
        numeric("assumed relevant, adjusted", lambda row: row,
                lambda row: f"{row['relevant_adjusted']} of {row['holes_adjusted']}"),
        *_slopes(), BOTH_REMARKS, most=most_rows,
    )  # fmt: skip


def _slopes() -> list[Column]:
    """Return the columns for slopes, verdicts and p-values, as measured and adjusted."""
    return [
        name("verdict"), numeric("P per 0.1", lambda row: row, slope_with_interval),
        numeric("p", "p_value", p_value), name("verdict, adjusted", "verdict_adjusted"),
        numeric("P per 0.1, adjusted", _adjusted, slope_with_interval),
        numeric("p, adjusted", "p_value_adjusted", p_value),
    ]  # fmt: skip


def _adjusted(row: Mapping[str, object]) -> dict[str, object]:
    return {column: row[f"{column}_adjusted"] for column in ("slope", "low", "high", "reason")}


def _both_remarks(row: Mapping[str, object]) -> str:
    own, adjusted = REMARK.text(row), row["reason_adjusted"] or ""
    return own if adjusted in ("", own) else "; ".join([*([own] if own else []), f"adjusted: {adjusted}"])


BOTH_REMARKS = textual("remark", _both_remarks)


def clusters_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of the actual and the effective number of query clusters, and of the largest cluster's size."""
    return table_of(
        section["clusters"], numeric("queries", "queries", count), numeric("clusters", "clusters", count),
        numeric("effective clusters", "n_eff", number, 1), numeric("queries in the largest", "largest", count),
        numeric("its share of the queries", "share_largest", share), most=most_rows,
    )  # fmt: skip


def pooled_table(study: ReportedStudy) -> Table:
    """Build the table of verdicts pooled over generators, for each dataset and for all datasets together."""
    frame = study.pooled if study.pooled is not None else pl.DataFrame(schema=schema_of(POOLED))
    return table_of(
        frame, name("dataset"), name("scorer"), name("question"), textual("generators", "generators"),
        yes_no("adjusted", "adjusted", filtered=False), name("verdict"),
        numeric("difference in P, or P per 0.1", lambda row: row, _estimate), numeric("p", "p_value", p_value),
        numeric("τ", lambda row: row["tau"] and row["tau"] / (10 if row["question"] == RELAY else 1)),
        numeric("queries", "n", count), REMARK,
    )  # fmt: skip


def _estimate(row: Mapping[str, Any]) -> str:
    if row["question"] == RELAY:
        return slope_with_interval({"slope": row["estimate"], **row})
    return with_interval(row["estimate"], row["low"], row["high"])


def slope_with_interval(row: Mapping[str, Any]) -> str:
    """Format a row's slope and interval as the change in P per 0.1 of the measure."""
    slope, low, high = (None if row[name] is None else row[name] / 10 for name in ("slope", "low", "high"))
    return with_interval(slope, low, high)


def within_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of within-query correlations (repeated measures) between each measure and P."""
    return table_of(
        section["within"],
        name("retrievers"), name("ordering"), depth(), name("references"), name("measure"), between("r", "r", 2),
        name("verdict"), numeric("p", "p_value", p_value), numeric("queries", "n_queries", count),
        numeric("values of P", "n", count), REMARK, most=most_rows, later=pl.col("ordering") != "all",
    )  # fmt: skip


def equivalence_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of equivalence tests between each retriever's P and the reference retriever's P."""
    return table_of(
        section.rows("equivalence"),
        *OF_CELL, textual("reference retriever", "against_retriever"), numeric("n", "n", count), name("verdict"),
        between("difference in P", "mean_difference", ends=("verdict_low", "verdict_high")),
        numeric("margin", "margin", number, 2), numeric("p, equivalent", "p_value", p_value),
        numeric("Holm", "p_holm", p_value), numeric("p, not worse", "p_not_worse", p_value),
        numeric("Holm", "p_not_worse_holm", p_value), REMARK, most=most_rows, later=pl.col("verdict") == UNDECIDED,
    )  # fmt: skip


def coupling_table(section: Section, most_rows: int | None = None) -> Table:
    """Build the table of correlations between utility and P₀, and between the measures and P given P₀."""
    known = {"r of P₀ and U": "r_p0_utility", "r of P, given P₀": "partial_r", "ρ of P, given P₀": "partial_rho"}
    return table_of(
        section.rows("coupling"), *OF_CELL, name("measure"), numeric("n", "n", count),
        *(between(title, column, 2, (f"{column}_low", f"{column}_high")) for title, column in known.items()),
        *(numeric(f"U, {third} P₀", f"utility_{third}_p0") for third in ("low", "middle", "high")), REMARK,
        most=most_rows, later=LATER,
    )  # fmt: skip
