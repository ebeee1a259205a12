"""The page's tables of verdicts: gains, relay, contexts of one query, equivalence, and coupling with P_0."""

from typing import Any

import polars as pl

from ragrelay.analysis.pooled import COLUMNS as POOLED
from ragrelay.analysis.pooled import RELAY
from ragrelay.analysis.relay import ALL_RANKINGS
from ragrelay.analysis.systems import EXPLORATORY, PRIMARY, REFERENCE
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.display.numbers import count, number, p_value, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.display.tables import Column, Table, cell_columns, cell_values, first_rows
from ragrelay.report.study import ReportedStudy
from ragrelay.vocabulary.columns import schema_of
from ragrelay.vocabulary.names import UNSEEN

AT_EQUAL_LENGTH = "at equal length"


def gain_table(section: Section, most_rows: int | None = None) -> Table:
    """P compared with P_0 in every cell, and utility."""
    frame = section.rows("gain")
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [*cell_values(row), count(row["n"]), row["verdict"],
         with_interval(row["mean_difference"], row["low"], row["high"]), p_value(row["p_verdict"]),
         p_value(row["p_holm"]), p_value(row["p_value"]), p_value(row["p_wilcoxon"]), number(row["d_z"], 2),
         share(row["ratio_of_means"]), number(row["mean_utility"]), number(row["median_utility"]),
         "yes" if row["utility_disagrees"] else "", f"{share(row['largest_share'])} {row['largest_qid'] or ''}".strip(),
         row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("n", True), Column("verdict", filtered=True), Column("P − P₀", True),
               Column("p", True), Column("p, Holm", True), Column("p, t-test", True), Column("p, Wilcoxon", True),
               Column("d_z", True), Column("ΣP / ΣP₀ − 1", True), Column("mean U", True), Column("median U", True),
               Column("U of another sign"), Column("largest |U|", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def relay_table(section: Section, most_rows: int | None = None) -> Table:
    """Slopes of P on the measures, per 0.1 of them; those of all rankings first."""
    frame = section["relay"]
    shown = first_rows(frame, most_rows, pl.col("retrievers") != ALL_RANKINGS)
    rows = [
        [row["retrievers"], row["ordering"], "all" if row["k"] is None else count(row["k"]), row["references"],
         row["measure"], "yes" if row["adjusted"] else "no", row["verdict"], slope_with_interval(row),
         p_value(row["p_value"]), number(row["r"], 2), number(row["r_corrected"], 2), count(row["n"]),
         number(row["n_eff"], 1),
         share(row["share_same"]), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("retrievers", filtered=True), Column("ordering", filtered=True), Column("k", True, True),
               Column("references", filtered=True), Column("measure", filtered=True), Column("adjusted", filtered=True),
               Column("verdict", filtered=True), Column("P per 0.1", True), Column("p", True), Column("r", True),
               Column("r, corrected", True), Column("queries that differ", True), Column("effective", True),
               Column("same contexts", True),
               Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def systems_table(section: Section, most_rows: int | None = None) -> Table:
    """Differences of mean P; the primary pair first, then pairs with the reference retriever."""
    roles = {role: place for place, role in enumerate((PRIMARY, REFERENCE, EXPLORATORY))}
    place = pl.col("role").replace_strict(roles, return_dtype=pl.Int64)
    frame = section.rows("systems").sort(place, maintain_order=True)
    shown = first_rows(frame, most_rows, pl.col("role") == EXPLORATORY)
    rows = []
    for row in shown.iter_rows(named=True):
        pair = [*cell_values(row), row["against_retriever"]]
        rows.append(
            [row["role"], *pair, row["verdict"], with_interval(row["mean_difference"], row["low"], row["high"]),
             "" if row["level"] is None else f"{number(100 * row['level'], 1)}%", p_value(row["p_bonferroni"]),
             count(row["family_size"]), count(row["n"]), row["reason"] or ""]
        )  # fmt: skip
        if row["role"] == PRIMARY and row["length_ratio"] is not None:
            at_equal = with_interval(*(row[f"equal_length_{end}"] for end in ("difference", "low", "high")))
            rows.append([AT_EQUAL_LENGTH, *pair, "", at_equal, "95%", "", "", "", row["equal_length_reason"] or ""])
    columns = [Column("role", filtered=True), *cell_columns(), Column("against", filtered=True),
               Column("verdict", filtered=True), Column("difference of P", True), Column("level", True),
               Column("p, corrected", True), Column("pairs", True), Column("n", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def pooled_table(study: ReportedStudy) -> Table:
    """The answers over all generators, a row per dataset, scorer and question; then those of all datasets."""
    frame = study.pooled if study.pooled is not None else pl.DataFrame(schema=schema_of(POOLED))
    rows = []
    for row in frame.iter_rows(named=True):
        slope = row["question"] == RELAY
        shown = {"slope": row["estimate"], **{end: row[end] for end in ("low", "high")}}
        rows.append(
            [row["dataset"], row["scorer"], row["question"], row["generators"],
             {None: "", True: "yes", False: "no"}[row["adjusted"]], row["verdict"],
             slope_with_interval(shown) if slope else with_interval(row["estimate"], row["low"], row["high"]),
             p_value(row["p_value"]), "" if row["tau"] is None else number(row["tau"] / (10 if slope else 1)),
             count(row["n"]), row["reason"] or ""]
        )  # fmt: skip
    columns = [Column("dataset", filtered=True), Column("scorer", filtered=True), Column("question", filtered=True),
               Column("generators"), Column("adjusted"), Column("verdict", filtered=True),
               Column("difference of P, or P per 0.1", True), Column("p", True), Column("τ", True),
               Column("queries", True), Column("remark")]  # fmt: skip
    return Table(columns, rows)


def slope_with_interval(row: dict[str, Any]) -> str:
    """The slope of a row of relay.csv and its interval, per 0.1 of the measure."""
    slope, low, high = (None if row[name] is None else row[name] / 10 for name in ("slope", "low", "high"))
    return with_interval(slope, low, high)


def within_table(section: Section, most_rows: int | None = None) -> Table:
    """Repeated-measures correlations of the measures with P."""
    frame = section["within"]
    shown = first_rows(frame, most_rows, pl.col("ordering") != "all")
    rows = [
        [row["retrievers"], row["ordering"], "all" if row["k"] is None else count(row["k"]), row["references"],
         row["measure"], with_interval(row["r"], row["low"], row["high"], 2), row["verdict"], p_value(row["p_value"]),
         count(row["n_queries"]), count(row["n"]), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("retrievers", filtered=True), Column("ordering", filtered=True), Column("k", True, True),
               Column("references", filtered=True), Column("measure", filtered=True), Column("r", True),
               Column("verdict", filtered=True), Column("p", True), Column("queries", True),
               Column("values of P", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def equivalence_table(section: Section, most_rows: int | None = None) -> Table:
    """P compared with the reference retriever's, in the same cell."""
    frame = section.rows("equivalence")
    shown = first_rows(frame, most_rows, pl.col("verdict") == UNDECIDED)
    rows = [
        [*cell_values(row), row["against_retriever"], count(row["n"]), row["verdict"],
         with_interval(row["mean_difference"], row["verdict_low"], row["verdict_high"]), number(row["margin"], 2),
         p_value(row["p_value"]), p_value(row["p_holm"]), p_value(row["p_not_worse"]), p_value(row["p_not_worse_holm"]),
         row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("reference retriever"), Column("n", True), Column("verdict", filtered=True),
               Column("difference of P", True), Column("margin", True), Column("p, equivalent", True),
               Column("Holm", True), Column("p, not worse", True), Column("Holm", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)


def coupling_table(section: Section, most_rows: int | None = None) -> Table:
    """Dependence of utility on P_0."""
    frame = section.rows("coupling")
    shown = first_rows(frame, most_rows, pl.col("references").str.ends_with(UNSEEN))
    rows = [
        [*cell_values(row), row["measure"], count(row["n"]),
         with_interval(row["r_p0_utility"], row["r_p0_utility_low"], row["r_p0_utility_high"], 2),
         with_interval(row["partial_r"], row["partial_r_low"], row["partial_r_high"], 2),
         with_interval(row["partial_rho"], row["partial_rho_low"], row["partial_rho_high"], 2),
         *(number(row[f"utility_{third}_p0"]) for third in ("low", "middle", "high")), row["reason"] or ""]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [*cell_columns(), Column("measure", filtered=True), Column("n", True), Column("r of P₀ and U", True),
               Column("r given P₀", True), Column("ρ given P₀", True), Column("U, low P₀", True),
               Column("U, middle P₀", True), Column("U, high P₀", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, frame.height - shown.height)
