"""Compare the correlations between labels and P, and labels' costs, with the values in Salemi and Zamani (2024)."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.labels.correlation import COLUMNS as CORRELATIONS
from ragrelay.annexes.labels.cost import COLUMNS as COSTS
from ragrelay.annexes.labels.cost import EACH, END_TO_END
from ragrelay.annexes.reproduction.cells import WITH_PUBLISHED, with_difference
from ragrelay.annexes.reproduction.published import Row
from ragrelay.base.vocabulary.columns import (
    ANSWERS_PART,
    CONTEXT_COLUMNS,
    REFERENCES,
    STUDY_PART,
    integer,
    number,
    read_rows,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN

COEFFICIENTS = {"tau": "kendall", "rho": "spearman"}
LABELS = {
    **STUDY_PART,
    "retriever": CONTEXT_COLUMNS["retriever"],
    "source": text("name of the annotation source"),
    "measure": text("name of the retrieval measure, which is computed from the source's labels"),
    "coefficient": text("coefficient of the correlation with P over queries: `kendall` (tau) or `spearman` (rho)"),
    "k": integer("number of passages in this study's contexts, which is the largest k", "passages"),
    "references": REFERENCES,
    **WITH_PUBLISHED,
}
"""Columns of labels.csv."""
COST = {
    **ANSWERS_PART,
    "what": text(f"quantity in `value`: time for answers `{END_TO_END}`, for answers from `{EACH}`, or their `ratio`"),
    "value": number("value from this study: device-seconds or, for the ratio, a plain number"),
    "published": number("published value: device-seconds or, for the ratio, a plain number"),
}  # fmt: skip
"""Columns of label_cost.csv."""
RATIO = "ratio"


def compare_published_labels(published: Sequence[Row], correlations: Sequence[str | Path]) -> pl.DataFrame:
    """Compare our correlations between labels and P at the largest k with the published values (columns LABELS).

    ``correlations``: files with labels.correlation.COLUMNS.
    """
    ours = read_rows(correlations, CORRELATIONS).filter(
        pl.col("quantity") == "p",
        ~pl.col("references").str.ends_with(UNSEEN),
        pl.col("k") == pl.col("k").max().over(*STUDY_PART),
    )
    schema = dict.fromkeys(("dataset", "retriever", "annotation", "measure", "coefficient"), pl.String)
    theirs = pl.DataFrame(published, schema=schema | {"value": pl.Float64})
    theirs = theirs.with_columns(pl.col("coefficient").replace(COEFFICIENTS)).rename(
        {"annotation": "source", "value": "published"}
    )
    keys = ["dataset", "retriever", "source", "measure", "coefficient"]
    rows = theirs.drop_nulls("published").join(ours, on=keys, how="inner", maintain_order="left")
    return with_difference(rows, LABELS)


def compare_published_cost(published: Sequence[Row], costs: Sequence[str | Path]) -> pl.DataFrame:
    """Compare times for end-to-end and single-passage answers, and their ratio, with published values (columns COST).

    ``costs``: files with labels.cost.COLUMNS.
    """
    ours = read_rows(costs, COSTS)
    # If there is only one k, its row is also the row for all k.
    whole_cost = ours.sort(pl.col("k").is_not_null(), maintain_order=True).unique(
        [*ANSWERS_PART, "what"], keep="first", maintain_order=True
    )
    seconds = {(row["dataset"], row["generator"], row["what"]): row["device_seconds"] for row in whole_cost.to_dicts()}
    rows = []
    for row in published:
        for generator in dict.fromkeys(key[1] for key in seconds if key[0] == row["dataset"]):
            own = {what: seconds.get((row["dataset"], generator, what)) for what in (END_TO_END, EACH)}
            theirs = {END_TO_END: row["end_to_end_seconds"], EACH: row["erag_seconds"]}
            for side in (own, theirs):
                whole_seconds, each = side[END_TO_END], side[EACH]
                side[RATIO] = whole_seconds / each if whole_seconds and each else None
            rows += [(row["dataset"], generator, what, own[what], theirs[what]) for what in (END_TO_END, EACH, RATIO)]
    return pl.DataFrame(rows, schema=schema_of(COST), orient="row")
