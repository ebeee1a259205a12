"""How much of the spread of P is the LLM's sampling: queries and seeds as components of variance."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.utility import NO_ORDERING, ZEROSHOT

METHOD = "one-way random effects, ANOVA estimator"
RELIABLE = 0.9
CELL = ["ordering", "k", "references"]
SCHEMA: dict[str, type[pl.DataType]] = {
    "retriever": pl.String,
    "ordering": pl.String,
    "k": pl.Int64,
    "references": pl.String,
    "n": pl.Int64,
    "n_single": pl.Int64,
    "n_scores": pl.Int64,
    "n_seeds": pl.Float64,
    "mean_p": pl.Float64,
    "variance_queries": pl.Float64,
    "variance_seeds": pl.Float64,
    "share_seeds": pl.Float64,
    "standard_error_seeds": pl.Float64,
    "reliability_one": pl.Float64,
    "reliability": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "seeds_for_reliable": pl.Int64,
    "method": pl.String,
    "reason": pl.String,
}


def decompose(scores: Mapping[str, str | Path]) -> pl.DataFrame:
    """Components of the variance of P (one score per query and seed) in every cell: a row (``SCHEMA``) per cell.

    ``scores`` maps a retriever (``zeroshot`` among them) to its scores file. The model is P_qs = mean + query_q +
    noise_qs: the seeds of a query are repeated draws of the LLM, and a seed means nothing across queries. With the
    mean squares between and within queries, variance_seeds = within, variance_queries = (between - within) / n_seeds,
    0 where that is negative (Searle, Casella and McCulloch 1992, ch. 3), n_seeds being the mean number of seeds,
    corrected where it differs between queries. share_seeds is the noise's share of the variance of single scores;
    reliability the share of the queries' own variance in that of their means over n_seeds (ICC(1, s): Shrout and
    Fleiss 1979) with its 95% interval (exact for normal data and equal numbers of seeds), reliability_one that of a
    single seed, seeds_for_reliable how many seeds make it 0.9 (Spearman-Brown). standard_error_seeds is how far
    other seeds would move the cell's mean P. Queries with one score (n_single) count between queries alone.
    """
    return pl.concat([_components(retriever, path) for retriever, path in scores.items()])


def _components(retriever: str, path: str | Path) -> pl.DataFrame:
    zeroshot = retriever == ZEROSHOT
    queries = (
        pl.scan_parquet(path)
        .filter((pl.col("ordering") == NO_ORDERING) == zeroshot, pl.col("f1").is_not_null())
        .sort(*CELL, "qid", "seed")
        .group_by(*CELL, "qid", maintain_order=True)
        .agg(pl.col("f1").cast(pl.Float64))
        .select(
            *CELL,
            pl.col("f1").list.len().cast(pl.Int64).alias("seeds"),
            pl.col("f1").list.mean().alias("mean"),
            # The variance of one value is null, and its sum of squares 0.
            (pl.col("f1").list.var().fill_null(0.0) * (pl.col("f1").list.len() - 1)).alias("within"),
        )
        .collect()
    )
    rows = [
        {"retriever": retriever, **dict(zip(CELL, key, strict=True)), **_anova(cell)}
        for key, cell in queries.group_by(CELL, maintain_order=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _anova(cell: pl.DataFrame) -> dict[str, float | int | str | None]:
    """The components of one cell: queries with their number of ``seeds``, ``mean`` and ``within`` sum of squares."""
    seeds, means = cell["seeds"].to_numpy(), cell["mean"].to_numpy()
    n, scores = len(seeds), int(seeds.sum())
    grand = float(seeds @ means / scores)
    row: dict[str, float | int | str | None] = {
        "n": n, "n_single": int((seeds == 1).sum()), "n_scores": scores, "mean_p": grand, "n_seeds": scores / n,
    }  # fmt: skip
    if n < 2:
        return row | {"reason": "fewer than 2 queries"}
    if scores == n:
        return row | {"reason": "one seed per query"}
    size = (scores - (seeds**2).sum() / scores) / (n - 1)
    within = float(cell["within"].sum()) / (scores - n)
    between = float(seeds @ (means - grand) ** 2) / (n - 1)
    noise, signal = within, max(0.0, (between - within) / size)
    row |= {"n_seeds": size, "variance_queries": signal, "variance_seeds": noise, "method": METHOD}
    row["standard_error_seeds"] = float(np.sqrt(noise / scores))
    if signal + noise == 0.0:
        return row | {"reason": "all scores are equal"}
    row |= {"share_seeds": noise / (signal + noise), "reliability_one": signal / (signal + noise)}
    row["reliability"] = signal / (signal + noise / size)
    if noise == 0.0:
        return row | {"seeds_for_reliable": 1, "reason": "seeds make no difference"}
    limits = stats.f.ppf([0.975, 0.025], n - 1, scores - n) * within
    low, high = (max(0.0, 1.0 - float(limit) / between) if between > 0 else 0.0 for limit in limits)
    row |= {"low": low, "high": high}
    if signal == 0.0:
        return row | {"reason": "queries differ no more than seeds do"}
    wanted = RELIABLE / (1.0 - RELIABLE) * noise / signal
    return row | {"seeds_for_reliable": max(1, int(np.ceil(wanted - 1e-9)))}
