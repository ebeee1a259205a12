"""Mean utility of every cell compared with the published one, with the marks † and ‡."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.analysis.significance import AGAINST_ASCENDING, AGAINST_REFERENCE, ASCENDING
from ragrelay.analysis.significance import COLUMNS as SIGNIFICANCE
from ragrelay.analysis.summary import COLUMNS as UTILITY
from ragrelay.analysis.summary import mean_intervals
from ragrelay.reproduction.published import LAYOUTS, Row
from ragrelay.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL,
    STUDY_PART,
    Columns,
    read_rows,
    real,
    schema_of,
    text,
    truth,
)

MARKS = {"differs_from_rel": AGAINST_REFERENCE, "differs_from_reversed": AGAINST_ASCENDING}
"""Columns of the published table, with the marks of significance.csv."""
BESIDE = {
    "value": real("ours"),
    **INTERVAL,
    "published": real("the published value"),
    "difference": real("ours less the published value"),
    "inside": truth("whether the published value lies in our interval; empty without one"),
}
COLUMNS = {
    **STUDY_PART,
    "quantity": text("`utility`: mean utility of the cell; `p0`: mean P of the answers without context"),
    **CELL_COLUMNS,
    **BESIDE,
    "differs_from_rel": truth("whether ours differs from the reference retriever (†)"),
    "published_differs_from_rel": truth("whether the published value has the mark †"),
    "differs_from_reversed": truth("whether our ascending and descending orders differ (‡), at ascending"),
    "published_differs_from_reversed": truth("whether the published value has the mark ‡, at ascending"),
    "marks_agree": truth("whether all marks that both know agree; empty where there is none"),
}
"""Columns of cells.csv."""


def cells(
    published: Sequence[Row],
    utility: Sequence[str | Path],
    significance: Sequence[str | Path],
    zeroshot: pl.DataFrame,
    rel: str,
) -> pl.DataFrame:
    """COLUMNS, a row per published cell that the study has, of each generator and scorer, in the published order.

    ``utility`` and ``significance``: files of all parts of the study. ``zeroshot``: STUDY_PART, CELL and p of each
    query's answers without context. ``rel``: the retriever that the published † is against; ours is compared where it
    is against the same.
    """
    layout = LAYOUTS["utility"]
    types = {str: pl.String, int: pl.Int64}
    schema = {name: types.get(of, pl.Float64 if name in ("mean_utility", "mean_p0") else pl.Boolean)  # type: ignore[call-overload]
              for name, of in {**layout.required, **layout.optional}.items()}  # fmt: skip
    theirs = pl.DataFrame([{name: row.get(name) for name in schema} for row in published], schema=schema)
    theirs = theirs.rename({"mean_utility": "published"} | {mark: f"published_{mark}" for mark in MARKS})
    means, tests = read_rows(utility, UTILITY), read_rows(significance, SIGNIFICANCE)
    ours = means.rename({"mean_utility": "value"}).select(*STUDY_PART, *CELL, "value", *INTERVAL)
    rows = theirs.with_row_index("place").join(ours, on=["dataset", *CELL], how="inner")
    for column, mark in MARKS.items():
        rows = rows.join(_marked(tests, column, mark, rel), on=[*STUDY_PART, *CELL], how="left")
    utilities = rows.sort("generator", "scorer", "place", maintain_order=True).with_columns(quantity=pl.lit("utility"))
    return pl.concat([_with_agreement(utilities), _with_agreement(_zeroshot(theirs, zeroshot))])


def _marked(tests: pl.DataFrame, column: str, mark: str, rel: str) -> pl.DataFrame:
    """Our marks: STUDY_PART, CELL, ``column``; ‡ at the ascending cell."""
    rows = tests.filter(pl.col("mark") == mark, pl.col("quantity") == "utility")
    if mark == AGAINST_REFERENCE:
        rows = rows.filter(pl.col("against_retriever") == rel)
    else:
        rows = rows.with_columns(ordering=pl.lit(ASCENDING))
    return rows.select(*STUDY_PART, *CELL, pl.col("significant").alias(column))


def _zeroshot(theirs: pl.DataFrame, zeroshot: pl.DataFrame) -> pl.DataFrame:
    """P_0 of every reference set that the table has of a dataset: it is printed once, for no set in particular."""
    printed = theirs.drop_nulls("mean_p0").unique(["dataset", "references"], keep="first", maintain_order=True)
    lists = zeroshot.drop_nulls("p").group_by([*STUDY_PART, *CELL], maintain_order=True).agg("p")
    means = lists.select(*STUDY_PART, *CELL, pl.col("p").list.mean().alias("value"))
    ours = pl.concat([means, mean_intervals(lists["p"], "P₀").select(*INTERVAL)], how="horizontal")
    rows = printed.select("dataset", "references", pl.col("mean_p0").alias("published")).join(
        ours, on=["dataset", "references"], how="inner", maintain_order="left"
    )
    return rows.with_columns(quantity=pl.lit("p0"))


def beside(rows: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """``columns`` of ``rows``, which have value, low, high and published: with their difference, and inside."""
    compared = rows.with_columns(
        difference=pl.col("value") - pl.col("published"), inside=pl.col("published").is_between("low", "high")
    )
    return compared.select(pl.col(name).cast(dtype) for name, dtype in schema_of(columns).items())


def _with_agreement(rows: pl.DataFrame) -> pl.DataFrame:
    """COLUMNS of ``rows``, some of which may be without marks and interval."""
    schema = schema_of(COLUMNS)
    known = rows.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in schema.items() if name not in rows)
    agree = []
    for mark in MARKS:
        # An unmarked descending cell says nothing about ‡, which the paper puts at the ascending one.
        there = pl.lit(True) if mark == "differs_from_rel" else pl.col("ordering") == ASCENDING
        agree.append(pl.when(there).then(pl.col(mark) == pl.col(f"published_{mark}")))
    both = pl.when(pl.any_horizontal(part.is_not_null() for part in agree))
    marked = known.with_columns(marks_agree=both.then(pl.all_horizontal(part.fill_null(True) for part in agree)))
    return beside(marked, COLUMNS)
