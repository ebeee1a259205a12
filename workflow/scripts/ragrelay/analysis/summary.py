"""The utility table of a study: one row per retriever, ordering, k and references."""

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.correlation import LOW_P0, is_constant

METHOD = "t over queries"
KEYS = ["retriever", "ordering", "k", "references"]
COLUMNS = [
    *KEYS,
    *("n", "mean_p", "mean_p0", "mean_utility", "low", "high", "method", "median_utility"),
    *("n_null", "n_low_p0", "share_best_in_context", "reason"),
]


def utility_summary(utility: pl.DataFrame, retrieval: pl.DataFrame | None) -> pl.DataFrame:
    """Summarise one retriever's utility table: ``COLUMNS``, then a column per retrieval measure.

    n counts the queries with a row; means and median skip nulls. n_null counts null utilities and n_low_p0 queries
    with P_0 below 0.1. ``low`` and ``high`` bound the 95% interval of the mean utility (Student's t over queries);
    null with a ``reason`` where there is none. A measure's column (named by it, e.g. nDCG) is its mean at that k over
    the row's queries. ``retrieval`` (qid, measure, k, value) is None for zero-shot.
    """
    cells = (
        utility.sort([*KEYS, "qid"])
        .group_by(KEYS, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            # Lists first, means after: the same last digit whatever the number of threads.
            pl.col("p", "p0", "utility", "best_in_context").drop_nulls(),
            pl.col("utility").null_count().cast(pl.Int64).alias("n_null"),
            (pl.col("p0") < LOW_P0).sum().cast(pl.Int64).alias("n_low_p0"),
        )
        .with_columns(
            pl.col("p").list.mean().alias("mean_p"),
            pl.col("p0").list.mean().alias("mean_p0"),
            pl.col("utility").list.mean().alias("mean_utility"),
            pl.col("utility").list.median().alias("median_utility"),
            pl.col("best_in_context").list.mean().alias("share_best_in_context"),
        )
    )
    intervals = pl.DataFrame(
        [_mean_interval(values.to_numpy()) for values in cells["utility"]],
        schema={"low": pl.Float64, "high": pl.Float64, "method": pl.String, "reason": pl.String},
        orient="row",
    )
    summary = pl.concat([cells, intervals], how="horizontal").select(COLUMNS)
    if retrieval is None:
        return summary
    return summary.join(_mean_measures(utility, retrieval), on=KEYS, how="left", maintain_order="left")


def _mean_interval(values: np.ndarray) -> tuple[float | None, float | None, str | None, str | None]:
    """low, high, method, reason of the mean's 95% interval."""
    if len(values) < 2:
        return None, None, None, "fewer than 2 queries with utility"
    if is_constant(values):
        return None, None, None, "utility is constant"
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    return float(low), float(high), METHOD, None


def _mean_measures(utility: pl.DataFrame, retrieval: pl.DataFrame) -> pl.DataFrame:
    """Means of the measures over each cell's queries: ``KEYS``, then a column per measure, by name."""
    values = retrieval.select("qid", "measure", "k", pl.col("value").fill_nan(None))
    return (
        utility.select(*KEYS, "qid")
        .join(values, on=["qid", "k"], how="inner")
        .sort([*KEYS, "measure", "qid"])
        .group_by([*KEYS, "measure"], maintain_order=True)
        .agg(pl.col("value").drop_nulls())
        .with_columns(pl.col("value").list.mean())
        .pivot("measure", on_columns=retrieval["measure"].unique().sort(), index=KEYS, values="value")
    )
