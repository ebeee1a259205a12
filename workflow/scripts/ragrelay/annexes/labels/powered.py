"""Estimate measures over all queries from human labels for a random sample and a judge's labels for every query."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.prediction_powered import DIFFERENT_AT_LEAST, Powered, different
from ragrelay.analysis.significance import QUANTITIES
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.annexes.labels.prediction_powered import METHOD, powered_correlation, powered_mean
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.orderings import DESCENDING

MEAN = "mean"
TABLE = {
    "source": text("name of the annotation source that labels all queries"),
    "people": text("name of the annotation source with human labels, which exist for a random sample of the queries"),
    "retriever": CONTEXT_COLUMNS["retriever"],
    "measure": text("name of the retrieval measure, which is computed from the labels"),
    "k": integer("cutoff of the measure", "passages"),
    "references": REFERENCES,
    "quantity": text("quantity that is estimated over all queries, for the measure computed from human labels: the "
        "`mean`, or Pearson's r between the measure and `p` or `utility`"),
    "value": number("estimate of the quantity"),
    **INTERVAL,
    "weight": number("weight given to the source's labels; near 0 if they don't predict human labels"),
    "alone": number("estimate of the quantity from human labels alone"),
    "alone_low": number("lower end of the 95% interval for `alone`, computed in the same way as `low`"),
    "alone_high": number("upper end of the 95% interval for `alone`, computed in the same way as `high`"),
    "n": integer("number of queries with human labels", "queries"),
    "n_others": integer("number of queries that have labels only from the source", "queries"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of powered.csv."""
KEYS = ["retriever", "measure", "k", "references"]


def powered_table(
    labels: pl.DataFrame, values: pl.DataFrame, utility: pl.DataFrame, people: str, sources: Sequence[str]
) -> pl.DataFrame:
    """Estimate measures over all queries by combining human labels with each source's labels for the other queries.

    Returns the columns in TABLE. ``labels``: columns study_labels.LABELS; ``values``: columns values.SCHEMA. The
    estimates are valid only if the queries with human labels (from ``people``) are a random sample. A row without an
    interval has a ``reason``. Raises polars' ComputeError if a query has several values in a cell.
    """
    sampled = labels.filter(source=people)["qid"].unique()
    ends = utility.filter(ordering=DESCENDING).select("retriever", "k", "references", "qid", *QUANTITIES)
    own = values.filter(source=people).select(*KEYS, "qid", pl.col("value").alias("by_people"))
    rows: list[dict[str, object]] = []
    for name in sources:
        cells = (
            values.filter(source=name)
            .drop_nulls("value")
            .join(own, on=[*KEYS, "qid"], how="left", validate="1:1")
            .join(ends, on=["retriever", "k", "references", "qid"], how="left", validate="m:1")
            .with_columns(sampled=pl.col("qid").is_in(sampled.implode()))
            .filter(pl.col("by_people").is_not_null() | ~pl.col("sampled"))
            .sort(*KEYS, "qid")
        )
        for key, cell in cells.group_by(KEYS, maintain_order=True):
            named = {"source": name, "people": people, **dict(zip(KEYS, key, strict=True))}
            rows += [named | row for row in _of_cell(cell)] if not cell["sampled"].all() else []
    return pl.DataFrame(rows, schema=schema_of(TABLE))


def _of_cell(cell: pl.DataFrame) -> Iterator[dict[str, object]]:
    for quantity in (MEAN, *QUANTITIES):
        used = cell if quantity == MEAN else cell.drop_nulls(quantity)
        columns = ["by_people", "value", *([] if quantity == MEAN else [quantity])]
        sample, others = (used.filter(sampled=is_sampled).select(columns).to_numpy().T for is_sampled in (True, False))
        row = {"quantity": quantity, "n": sample.shape[1], "n_others": others.shape[1]}
        if min(row["n"], row["n_others"]) < QUERIES_AT_LEAST:
            yield row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries with human labels, or without"}
        elif is_constant(sample[0]):
            yield row | {"reason": "human labels give every query the same value"}
        elif (few := different(sample[0])) < DIFFERENT_AT_LEAST and not (quantity == MEAN and _binary(sample[0])):
            yield row | {"reason": f"human labels give all but {few} queries the same value"}
        elif quantity == MEAN:
            yield row | _row(powered_mean(sample[0], sample[1], others[1]))
        elif any(is_constant(column) for column in (*sample, *others[1:])):
            yield row | {"reason": "all queries have the same value"}
        else:
            yield row | _row(powered_correlation(*_pairs(sample, others)))


def _binary(values: Array) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _pairs(sample: Array, others: Array) -> list[tuple[Array, Array]]:
    return [(sample[0], sample[2]), (sample[1], sample[2]), (others[1], others[2])]


def _row(powered: Powered) -> dict[str, object]:
    return {name: float(np.asarray(value)) for name, value in powered._asdict().items()} | {"method": METHOD}
