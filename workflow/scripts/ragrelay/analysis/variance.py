"""How much of the spread of P is the LLM's sampling: queries and seeds as components of variance."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.vocabulary.columns import (
    CELL_COLUMNS,
    CELL_OF_RETRIEVER,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    real,
    schema_of,
    whole,
)
from ragrelay.vocabulary.names import NO_ORDERING, ZEROSHOT

METHOD = "one-way random effects, ANOVA estimator"
RELIABLE = 0.9
TABLE = {
    **CELL_COLUMNS,
    "n": whole("queries with a score", "queries"),
    "n_single": whole("of them with one score alone", "queries"),
    "n_scores": whole("scores: queries x seeds", "scores"),
    "n_seeds": real("seeds per query, averaged with a correction where the number differs", "seeds"),
    "mean_p": real("mean of the scores", "the scorer's"),
    "variance_queries": real("component of the variance of P between queries", "the scorer's²"),
    "variance_seeds": real("component of the variance of P between the seeds of a query", "the scorer's²"),
    "share_seeds": real("the seeds' share of the variance of single scores", "0 to 1"),
    "standard_error_seeds": real("how far other seeds would move the cell's mean P", "the scorer's"),
    "reliability_one": real("reliability of a query's score of one seed", "0 to 1"),
    "reliability": real("reliability of a query's mean over its seeds, ICC(1, s)", "0 to 1"),
    **INTERVAL,
    "seeds_for_reliable": whole("seeds that make the reliability 0.9 (Spearman-Brown)", "seeds"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}
SCHEMA = schema_of(TABLE)
COLUMNS = {
    **STUDY_PART,
    **TABLE,
    "reliability_utility": real("reliability of a query's utility, from P's and P₀'s noise over seeds", "0 to 1"),
}
"""Those of variance.csv."""


def decompose_variance(scores: Mapping[str, str | Path]) -> pl.DataFrame:
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
        .sort(*CELL_OF_RETRIEVER, "qid", "seed")
        .group_by(*CELL_OF_RETRIEVER, "qid", maintain_order=True)
        .agg(pl.col("f1").cast(pl.Float64))
        .select(
            *CELL_OF_RETRIEVER,
            pl.col("f1").list.len().cast(pl.Int64).alias("seeds"),
            pl.col("f1").list.mean().alias("mean"),
            # The variance of one value is null, and its sum of squares 0.
            (pl.col("f1").list.var().fill_null(0.0) * (pl.col("f1").list.len() - 1)).alias("within"),
        )
        .collect()
    )
    rows = [
        {"retriever": retriever, **dict(zip(CELL_OF_RETRIEVER, key, strict=True)), **_anova(cell)}
        for key, cell in queries.group_by(CELL_OF_RETRIEVER, maintain_order=True)
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
