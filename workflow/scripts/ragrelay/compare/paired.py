"""Paired tests of what changed from one study to the other, per cell, over queries."""

from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.analysis.paired_tests import PERMUTATIONS, all_tests

CELL = ["retriever", "ordering", "k", "references", "quantity"]
FAMILY = ("quantity", "references")
SAME = 1e-9
"""Differences nearer to 0 than this are of rounding: the query didn't move."""
SCHEMA: dict[str, type[pl.DataType]] = {
    "retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String, "quantity": pl.String,
    "n": pl.Int64, "n_unpaired": pl.Int64, "mean_before": pl.Float64, "mean_after": pl.Float64,
    "mean_difference": pl.Float64, "low": pl.Float64, "high": pl.Float64, "d_z": pl.Float64, "up": pl.Int64,
    "down": pl.Int64, "same": pl.Int64, "p_t": pl.Float64, "p_wilcoxon": pl.Float64, "p_permutation": pl.Float64,
    "reason": pl.String,
}  # fmt: skip


def paired_tests(queries: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Test each cell and quantity of ``queries`` (as paired_queries gives them): SCHEMA, and adjusted p-values.

    Differences are after minus before, of the queries with both values; the others are counted (n_unpaired). ``low``
    and ``high``: 95% interval of the mean difference (Student's paired t); d_z: Cohen's, mean / sd of differences;
    p-values, two-sided: the paired t-test (scipy's), and those of analysis.paired_tests. ``p_holm`` and ``p_bh`` adjust
    p_t within a family, which is quantity x references (analysis.multiplicity). Without a test, ``reason`` tells why.
    """
    rows = [
        dict(zip(CELL, key, strict=True)) | _test(part, seed)
        for key, part in queries.group_by(CELL, maintain_order=True)
    ]
    return with_adjusted(pl.DataFrame(rows, schema=SCHEMA), FAMILY, {"p_t": "p"})


def _test(part: pl.DataFrame, seed: int) -> dict[str, Any]:
    pairs = part.filter(pl.col("difference").is_not_null())
    differences = pairs["difference"].to_numpy()
    row: dict[str, Any] = {
        "n": len(differences),
        "n_unpaired": part.height - len(differences),
        "mean_before": pairs["before"].mean(),
        "mean_after": pairs["after"].mean(),
        "mean_difference": pairs["difference"].mean(),
        "up": int((differences > SAME).sum()),
        "down": int((differences < -SAME).sum()),
        "same": int((np.abs(differences) <= SAME).sum()),
    }
    if len(differences) < 2:
        return row | {"reason": "fewer than 2 pairs"}
    if row["same"] == len(differences):
        return row | {"reason": "no query moved"}
    if np.ptp(differences) <= SAME:
        return row | {"reason": "all differences are equal"}
    test = all_tests([differences], PERMUTATIONS, seed)[0]
    kept = {name: test[name] for name in ("low", "high", "d_z", "p_wilcoxon", "p_permutation")}
    return row | kept | {"p_t": test["p_value"]}
