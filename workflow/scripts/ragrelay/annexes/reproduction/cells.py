"""Compare each cell's mean utility and significance marks († and ‡) with the published values."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.analysis.significance import AGAINST_ASCENDING, AGAINST_REFERENCE, ASCENDING
from ragrelay.analysis.significance import COLUMNS as SIGNIFICANCE
from ragrelay.analysis.summary import COLUMNS as UTILITY
from ragrelay.analysis.summary import mean_intervals
from ragrelay.annexes.reproduction.published import LAYOUTS, Row
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL,
    STUDY_PART,
    Columns,
    boolean,
    number,
    read_rows,
    schema_of,
    text,
)

MARKS = {"differs_from_rel": AGAINST_REFERENCE, "differs_from_reversed": AGAINST_ASCENDING}
"""The corresponding mark in significance.csv, keyed by column of the published table."""
WITH_PUBLISHED = {
    "value": number("value from this study"),
    **INTERVAL,
    "published": number("the published value"),
    "difference": number("this study's value minus the published value"),
    "inside": boolean("whether the published value lies within this study's interval; empty if there is no interval"),
}
COLUMNS = {
    **STUDY_PART,
    "quantity": text("`utility`, the cell's mean utility, or `p0`, the mean P of the zero-shot answers"),
    **CELL_COLUMNS,
    **WITH_PUBLISHED,
    "differs_from_rel": boolean("whether the difference from the reference retriever is significant in this study (†)"),
    "published_differs_from_rel": boolean("whether the published value has the mark †"),
    "differs_from_reversed": boolean("whether the difference between ascending and descending order is significant in "
        "this study (‡); only for ascending order"),
    "published_differs_from_reversed": boolean("whether the published value has the mark ‡; only for ascending order"),
    "marks_agree": boolean("whether all marks with a result in both tables agree; empty without such a mark"),
}  # fmt: skip
"""Columns of cells.csv."""


def cells(
    published: Sequence[Row],
    utility: Sequence[str | Path],
    significance: Sequence[str | Path],
    zeroshot: pl.DataFrame,
    rel: str,
) -> pl.DataFrame:
    """Compare published cells with the study's cells (columns COLUMNS), by generator and scorer, in published order.

    ``utility`` and ``significance``: the files from all sections of the study. ``zeroshot``: the P of zero-shot
    answers, by query (columns STUDY_PART, CELL and p). ``rel``: the retriever to which the published † refers; our † is
    used only if it refers to the same retriever.
    """
    layout = LAYOUTS["utility"]
    types = {str: pl.String, int: pl.Int64}
    schema = {name: types.get(converter, pl.Float64 if name in ("mean_utility", "mean_p0") else pl.Boolean)  # type: ignore[call-overload]
              for name, converter in {**layout.required, **layout.optional}.items()}  # fmt: skip
    theirs = pl.DataFrame([{name: row.get(name) for name in schema} for row in published], schema=schema)
    theirs = theirs.rename({"mean_utility": "published"} | {mark: f"published_{mark}" for mark in MARKS})
    means, tests = read_rows(utility, UTILITY), read_rows(significance, SIGNIFICANCE)
    ours = means.rename({"mean_utility": "value"}).select(*STUDY_PART, *CELL, "value", *INTERVAL)
    rows = theirs.with_row_index("place").join(ours, on=["dataset", *CELL], how="inner")
    for column, mark in MARKS.items():
        rows = rows.join(_marked(tests, column, mark, rel), on=[*STUDY_PART, *CELL], how="left")
    utilities = rows.sort("generator", "scorer", "place", maintain_order=True).with_columns(quantity=pl.lit("utility"))
    return pl.concat([_with_marks(utilities), _with_marks(_zeroshot(theirs, zeroshot))])


def _marked(tests: pl.DataFrame, column: str, mark: str, rel: str) -> pl.DataFrame:
    """Return our marks: STUDY_PART, CELL, ``column``; ‡ is at the ascending cell."""
    rows = tests.filter(pl.col("mark") == mark, pl.col("quantity") == "utility")
    if mark == AGAINST_REFERENCE:
        rows = rows.filter(pl.col("against_retriever") == rel)
    else:
        rows = rows.with_columns(ordering=pl.lit(ASCENDING))
    return rows.select(*STUDY_PART, *CELL, pl.col("significant").alias(column))


def _zeroshot(theirs: pl.DataFrame, zeroshot: pl.DataFrame) -> pl.DataFrame:
    """Compare P_0 on each of a dataset's reference sets; the paper prints it once, without naming a set."""
    printed = theirs.drop_nulls("mean_p0").unique(["dataset", "references"], keep="first", maintain_order=True)
    lists = zeroshot.drop_nulls("p").group_by([*STUDY_PART, *CELL], maintain_order=True).agg("p")
    means = lists.select(*STUDY_PART, *CELL, pl.col("p").list.mean().alias("value"))
    ours = pl.concat([means, mean_intervals(lists["p"], "P₀").select(*INTERVAL)], how="horizontal")
    rows = printed.select("dataset", "references", pl.col("mean_p0").alias("published")).join(
        ours, on=["dataset", "references"], how="inner", maintain_order="left"
    )
    return rows.with_columns(quantity=pl.lit("p0"))


def with_difference(rows: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Add ``difference`` and ``inside``, computed from value, low, high and published, and select ``columns``."""
    differences = rows.with_columns(
        difference=pl.col("value") - pl.col("published"), inside=pl.col("published").is_between("low", "high")
    )
    return differences.select(pl.col(name).cast(dtype) for name, dtype in schema_of(columns).items())


def _with_marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Complete ``rows``, which may lack marks and intervals, to COLUMNS."""
    schema = schema_of(COLUMNS)
    known = rows.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in schema.items() if name not in rows)
    agree = []
    for mark in MARKS:
        # The paper marks ‡ at the ascending cell, so an unmarked descending cell says nothing about it.
        applies = pl.lit(True) if mark == "differs_from_rel" else pl.col("ordering") == ASCENDING
        agree.append(pl.when(applies).then(pl.col(mark) == pl.col(f"published_{mark}")))
    any_known = pl.when(pl.any_horizontal(part.is_not_null() for part in agree))
    marked = known.with_columns(marks_agree=any_known.then(pl.all_horizontal(part.fill_null(True) for part in agree)))
    return with_difference(marked, COLUMNS)
