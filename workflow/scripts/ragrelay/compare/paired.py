"""Paired tests of what changed from one study to the other, per cell, over queries."""

from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.multitest import multipletests

CELL = ["retriever", "ordering", "k", "references", "quantity"]
RESAMPLES = 10_000
LEVEL = 0.05
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
    p-values, two-sided: paired t-test, Wilcoxon's signed ranks, and the permutation test of the mean over exchanges of
    before and after (all scipy's; 10,000 random exchanges, or all where they are fewer). ``p_holm`` and ``p_bh`` adjust
    p_t within a family, which is quantity x references. Without a test, ``reason`` tells why.
    """
    rows = [
        dict(zip(CELL, key, strict=True)) | _test(part, seed)
        for key, part in queries.group_by(CELL, maintain_order=True)
    ]
    tests = pl.DataFrame(rows, schema=SCHEMA)
    families = tests.with_columns(family=pl.concat_str("quantity", "references", separator=" "))
    adjusted = [_adjusted(family) for family in families.partition_by("family", maintain_order=True)]
    return pl.concat(adjusted) if adjusted else families


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
    after, before = pairs["after"].to_numpy(), pairs["before"].to_numpy()
    student = stats.ttest_rel(after, before)
    low, high = student.confidence_interval(0.95)
    exchanged = stats.permutation_test(
        (after, before), _mean_difference, permutation_type="samples", vectorized=True, n_resamples=RESAMPLES, rng=seed
    )
    return row | {
        "low": float(low),
        "high": float(high),
        "d_z": float(differences.mean() / differences.std(ddof=1)),
        "p_t": float(student.pvalue),
        "p_wilcoxon": float(stats.wilcoxon(differences).pvalue),
        "p_permutation": float(exchanged.pvalue),
    }


def _mean_difference(after: Any, before: Any, axis: int) -> Any:
    return np.mean(after - before, axis=axis)


def _adjusted(family: pl.DataFrame) -> pl.DataFrame:
    tested = family["p_t"].is_not_null()
    values = family["p_t"].drop_nulls().to_numpy()
    frame = family.with_columns(pl.lit(len(values), pl.Int64).alias("family_size"))
    for name, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        column = np.full(family.height, np.nan)
        if len(values):
            column[tested.to_numpy()] = multipletests(values, alpha=LEVEL, method=method)[1]
        frame = frame.with_columns(pl.Series(name, column).fill_nan(None))
    return frame
