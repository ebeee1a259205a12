"""Count the clusters of queries in a dataset, and summarise the clusters' sizes."""

import numpy as np
import polars as pl

from ragrelay.analysis.clusters import effective_number
from ragrelay.analysis.transmission import Transmission
from ragrelay.base.vocabulary.columns import STUDY_PART, integer, number, schema_of

TABLE = {
    "queries": integer("number of queries with answers", "queries"),
    "clusters": integer("number of clusters that the queries form", "clusters"),
    "n_eff": number("effective number of clusters, (sum of sizes)² / sum of squared sizes: the number of equally large "
        "clusters that would carry as much information", "clusters"),
    "largest": integer("number of queries in the largest cluster", "queries"),
    "share_largest": number("share of the queries that are in the largest cluster", "0 to 1"),
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of clusters.csv."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute clusters.csv from ``given``: a single row, or no rows if the queries are independent."""
    if given.clusters is None:
        return pl.DataFrame(schema=SCHEMA)
    answered = given.cells["qid"].unique().to_list()
    sizes = np.unique([given.clusters[qid] for qid in answered], return_counts=True)[1]
    row = {
        "queries": len(answered), "clusters": len(sizes), "n_eff": effective_number(sizes),
        "largest": int(sizes.max()), "share_largest": float(sizes.max() / len(answered)),
    }  # fmt: skip
    return pl.DataFrame([row], schema=SCHEMA)
