"""Correlate label-based measures with answer quality over queries, as in Salemi and Zamani's Table 1."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from ragrelay.analysis.correlation import PairedColumns, correlate, no_coefficient
from ragrelay.analysis.significance import QUANTITIES
from ragrelay.base.vocabulary.columns import (
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    RESAMPLES,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.orderings import DESCENDING

ROW = ["source", "measure"]
TABLE = {
    "source": text("name of the annotation source that assigns the labels"),
    "measure": text("name of the retrieval measure, which is computed from the source's labels"),
    "retriever": text("name of the retriever"),
    "k": CONTEXT_COLUMNS["k"],
    "references": REFERENCES,
    "quantity": text("quantity with which the measure is correlated: `p` or `utility`"),
    "coefficient": text("correlation coefficient: `pearson` (r), `spearman` (rho) or `kendall` (tau-b)"),
    "value": number("correlation between the measure and the quantity, over queries", "−1 to 1"),
    **INTERVAL,
    "n": integer("number of queries with values for both the measure and the quantity", "queries"),
    "n_null": integer("number of queries excluded because the quantity has no value", "queries"),
    "n_unmeasured": integer("number of queries excluded because the measure has no value", "queries"),
    "n_short": integer("number of the `n` queries that have fewer than k passages", "queries"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the coefficient is 0; `method` "
        "describes the interval, not this p-value"),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of correlation.csv."""


def label_correlations(values: pl.DataFrame, utility: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Correlate measures computed from labels with P and utility, over queries.

    Returns the columns in SCHEMA, with a row per source, measure, retriever, k, reference set, quantity and
    coefficient. ``values``: columns values.SCHEMA; ``utility``: the utility table (only rows in descending order are
    used). Queries without the quantity (n_null) or the measure (n_unmeasured) are left out; n_short counts the
    remaining queries with fewer than k passages. For intervals and p-values, see analysis.correlation.transmission.
    """
    return pl.DataFrame(correlate(_cells(values, utility), resamples, seed), schema=SCHEMA)


def _cells(values: pl.DataFrame, utility: pl.DataFrame) -> Iterator[PairedColumns]:
    keys = ["retriever", "k", "references"]
    ends = utility.filter(ordering=DESCENDING).sort(*keys, "qid").partition_by(keys, as_dict=True)
    for key, measured in values.group_by([*ROW, *keys], maintain_order=True):
        names: dict[str, Any] = dict(zip([*ROW, *keys], key, strict=True))
        end = ends.get(key[2:])
        if end is None:
            continue
        joined = end.join(measured.select("qid", "value", "n_ranked"), on="qid", how="left", maintain_order="left")
        for quantity in QUANTITIES:
            useful = joined.drop_nulls(quantity)
            pairs = useful.drop_nulls("value")
            x, y = pairs[quantity].to_numpy(), pairs["value"].to_numpy()
            reason = no_coefficient(x, y, str(names["measure"]), quantity)
            if measured["value"].null_count() == measured.height:
                reason = f"{names['measure']} is not defined for these labels"
            counts = {"n": pairs.height, "n_null": joined.height - useful.height,
                      "n_unmeasured": useful.height - pairs.height,
                      "n_short": pairs.filter(pl.col("n_ranked") < names["k"]).height}  # fmt: skip
            yield PairedColumns(names | {"quantity": quantity} | counts, x, y, reason)
