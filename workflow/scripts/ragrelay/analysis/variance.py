"""Split the variance of P into differences between queries and between seeds, and estimate how reliable utility is."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from scipy import optimize, stats

from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import CONSTANT
from ragrelay.base.vocabulary.columns import (
    CELL_COLUMNS,
    CELL_OF_RETRIEVER,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    integer,
    number,
    schema_of,
)
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT

METHOD = "one-way random effects, ANOVA estimator"
UNEQUAL_METHOD = "one-way random effects, REML; interval of Wald (1947)"
RELIABLE = 0.9
LARGEST_SHARE = 1 - 1e-12
TABLE = {
    **CELL_COLUMNS,
    "n": integer("number of queries with a score", "queries"),
    "n_single": integer("number of queries with only one score", "queries"),
    "n_scores": integer("number of scores, one for each query and seed", "scores"),
    "n_seeds": number("number of seeds per query; if it varies, the harmonic mean over queries", "seeds"),
    "mean_p": number("mean P over queries, after averaging each query over its seeds", "the scorer's"),
    "variance_queries": number("between-query variance component of P", "the scorer's²"),
    "variance_seeds": number("between-seed variance component of P, within queries", "the scorer's²"),
    "share_seeds": number("share of a single score's variance that is due to the seed", "0 to 1"),
    "standard_error_seeds": number("part of the standard error of mean P that is due to seeds", "the scorer's"),
    "reliability_one": number("reliability of a query's score if only one seed is used", "0 to 1"),
    "reliability": number("reliability of a query's mean score over its s seeds, ICC(1, s)", "0 to 1"),
    **INTERVAL,
    "seeds_for_reliable": integer("number of seeds needed for a reliability of 0.9, by the Spearman–Brown "
        "formula", "seeds"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {
    **STUDY_PART,
    **TABLE,
    "reliability_utility": number("reliability of a query's utility, estimated from how much P and P₀ vary between "
        "seeds", "0 to 1"),
}  # fmt: skip
"""Columns of variance.csv."""


def decompose_variance(scores: Mapping[str, str | Path]) -> pl.DataFrame:
    """Estimate how much of P's variance comes from queries and how much from seeds, with one row (``SCHEMA``) per cell.

    ``scores`` maps each retriever, including ``zeroshot``, to a scores file. The model is P_qs = mean + query_q +
    noise_qs, where a query's seeds are independent draws from the LLM. If all queries have the same number of seeds,
    variance_seeds is the mean square within queries, and variance_queries is (mean square between - within) / seeds, or
    0 if this is negative (Searle, Casella and McCulloch 1992, ch. 3). Otherwise, both variances are estimated by
    restricted maximum likelihood. The reliability is ICC(1, s) = variance_queries / (variance_queries + variance_seeds
    / s) (Shrout and Fleiss 1979), where s is n_seeds, the harmonic mean of the queries' numbers of seeds. The 95%
    interval for the reliability is exact for normal data, even if the numbers of seeds differ (Wald 1947). Queries with
    one score (n_single) are included, although they carry no information about the noise.
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
            # The variance of a single value is null, but its sum of squares is 0.
            (pl.col("f1").list.var().fill_null(0.0) * (pl.col("f1").list.len() - 1)).alias("within"),
        )
        .collect()
    )
    rows = [
        {"retriever": retriever, **dict(zip(CELL_OF_RETRIEVER, key, strict=True)), **_estimates(cell)}
        for key, cell in queries.group_by(CELL_OF_RETRIEVER, maintain_order=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _estimates(cell: pl.DataFrame) -> dict[str, float | int | str | None]:
    """Estimate the components from a cell's queries: number of ``seeds``, ``mean``, ``within`` sum of squares."""
    seeds, means, squares = cell["seeds"].to_numpy(), cell["mean"].to_numpy(), float(cell["within"].sum())
    n, scores = len(seeds), int(seeds.sum())
    equal = bool((seeds == seeds[0]).all())
    size = float(seeds[0]) if equal else float(stats.hmean(seeds))
    row: dict[str, float | int | str | None] = {
        "n": n, "n_single": int((seeds == 1).sum()), "n_scores": scores, "n_seeds": size,
        "mean_p": float(seeds @ means / scores if equal else means.mean()),
    }  # fmt: skip
    if n < 2:
        return row | {"reason": "fewer than 2 queries"}
    if scores == n:
        return row | {"reason": "one seed per query"}
    limits = stats.f.ppf([0.975, 0.025], n - 1, scores - n)
    signal, noise, low, high = (_anova if equal else _reml)(seeds, means, squares, limits)
    row |= {"variance_queries": signal, "variance_seeds": noise, "method": METHOD if equal else UNEQUAL_METHOD}
    row["standard_error_seeds"] = float(np.sqrt(noise / (n * size)))
    if signal + noise <= (CONSTANT * max(1.0, float(np.abs(means).max()))) ** 2:
        return row | {"reason": "all scores are equal"}
    row |= {"share_seeds": noise / (signal + noise), "reliability_one": signal / (signal + noise)}
    row["reliability"] = signal / (signal + noise / size)
    if noise == 0.0:
        return row | {"seeds_for_reliable": 1, "reason": "seeds make no difference"}
    row |= {"low": low, "high": high}
    if signal == 0.0:
        return row | {"reason": "queries differ no more than seeds do"}
    wanted = RELIABLE / (1.0 - RELIABLE) * noise / signal
    return row | {"seeds_for_reliable": max(1, int(np.ceil(wanted - 1e-9)))}


def _anova(seeds: Array, means: Array, squares: float, limits: Array) -> tuple[float, float, float, float]:
    """Return variance_queries, variance_seeds and both ends of the reliability's interval for equal numbers of seeds.

    ``limits``: the quantiles of F for the lower and the upper end.
    """
    n, scores = len(seeds), int(seeds.sum())
    within = squares / (scores - n)
    between = float(seeds @ (means - float(seeds @ means / scores)) ** 2) / (n - 1)
    low, high = (max(0.0, 1.0 - float(limit * within) / between) if between > 0 else 0.0 for limit in limits)
    return max(0.0, (between - within) / float(seeds[0])), within, low, high


def _reml(seeds: Array, means: Array, squares: float, limits: Array) -> tuple[float, float, float, float]:
    """Do the same as _anova for unequal numbers of seeds, by maximising the restricted likelihood over the ratio.

    Wald's interval contains the ratios for which the weighted mean square between queries, divided by that within, lies
    between the quantiles of F.
    """
    n, scores = len(seeds), int(seeds.sum())
    if squares == 0.0:
        return float(means.var(ddof=1)), 0.0, 1.0, 1.0

    def between(ratio: float) -> tuple[Array, float]:
        weights = seeds / (1.0 + ratio * seeds)
        return weights, float(weights @ (means - weights @ means / weights.sum()) ** 2)

    def loss(share: float) -> float:
        weights, spread = between(_ratio(share))
        logs = np.log(seeds / weights).sum() + np.log(weights.sum())
        return float((scores - 1) * np.log(squares + spread) + logs)

    def ratio_at(limit: float) -> float:
        def excess(share: float) -> float:
            return between(_ratio(share))[1] / (n - 1) - limit * squares / (scores - n)

        if excess(0.0) <= 0.0:
            return 0.0
        return _ratio(
            LARGEST_SHARE if excess(LARGEST_SHARE) >= 0.0 else float(optimize.brentq(excess, 0.0, LARGEST_SHARE))
        )

    best = float(optimize.minimize_scalar(loss, bounds=(0.0, LARGEST_SHARE), method="bounded",
                                          options={"xatol": 1e-10}).x)  # fmt: skip
    ratio = 0.0 if loss(0.0) <= loss(best) else _ratio(best)
    noise = (squares + between(ratio)[1]) / (scores - 1)
    size = float(stats.hmean(seeds))
    low, high = (bound * size / (1.0 + bound * size) for bound in map(ratio_at, limits))
    return ratio * noise, noise, low, high


def _ratio(share: float) -> float:
    """Return the ratio of two components, given the first one's ``share`` in their sum."""
    return share / (1.0 - share)


def utility_reliability(scores: Mapping[str, str | Path], mode: str) -> pl.DataFrame:
    """Estimate reliability_utility per retriever, ordering, k and reference set, except for zero-shot answers.

    ``scores`` maps each retriever, including ``zeroshot``, to a scores file; ``mode`` is relative or absolute, as in
    utility.compute_utility. The reliability of utility U is 1 - (mean noise in U) / (variance of U over queries), or 0
    if this is negative. The noise in P_k and in P_0 is the variance over seeds, divided by the number of seeds. The
    noise in U is computed by the delta method; for relative U = P_k / P_0 - 1, it is var(P_k) / P_0^2 + P_k^2 var(P_0)
    / P_0^4. For a query with only one seed, the pooled variance over seeds of the cell's other queries is used. The
    result is null unless at least one query has two seeds in the cell, and at least one has two seeds for P_0.
    """
    zeroshot = _by_query(scores[ZEROSHOT]).drop("ordering", "k")
    tables = [
        _of_retriever(_by_query(path), zeroshot, mode).select(pl.lit(name).alias("retriever"), "*")
        for name, path in scores.items()
        if name != ZEROSHOT
    ]
    schema = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64, "references": pl.String}
    return pl.concat([pl.DataFrame(schema={**schema, "reliability_utility": pl.Float64}), *tables])


def _by_query(path: str | Path) -> pl.DataFrame:
    """Return p (the mean of f1 over seeds) and noise (that mean's variance) by ordering, k, references and qid."""
    more = pl.col("seeds") - 1
    pooled = ((more * pl.col("variance")).sum() / more.sum()).over(CELL_OF_RETRIEVER)
    return (
        pl.scan_parquet(path)
        .filter(pl.col("f1").is_not_null())
        .sort(*CELL_OF_RETRIEVER, "qid", "seed")
        .group_by(*CELL_OF_RETRIEVER, "qid", maintain_order=True)
        .agg(pl.col("f1").cast(pl.Float64))
        .select(
            *CELL_OF_RETRIEVER,
            "qid",
            pl.col("f1").list.mean().alias("p"),
            pl.col("f1").list.var().alias("variance"),
            pl.col("f1").list.len().cast(pl.Int64).alias("seeds"),
        )
        .with_columns(noise=pl.col("variance").fill_null(pooled) / pl.col("seeds"))
        .with_columns(noise=pl.col("noise").fill_nan(None))
        .drop("variance", "seeds")
        .collect()
    )


def _of_retriever(means: pl.DataFrame, zeroshot: pl.DataFrame, mode: str) -> pl.DataFrame:
    answers = means.filter(pl.col("ordering") != NO_ORDERING)
    # For unseen references, P_0 is in the same table as the answers (utility._with_baseline).
    own = means.filter(pl.col("ordering") == NO_ORDERING).drop("ordering")
    plain = answers.select("k", "references").unique().join(zeroshot, on="references")
    baseline = pl.concat([own, plain.join(own, on=["k", "references"], how="anti").select(own.columns)])
    paired = answers.join(baseline.rename({"p": "p0", "noise": "noise0"}), on=["k", "references", "qid"])
    p, p0, noise, noise0 = (pl.col(name) for name in ("p", "p0", "noise", "noise0"))
    if mode == "relative":
        paired = paired.filter(p0 > 0).with_columns(
            utility=(p - p0) / p0, noise_utility=noise / p0**2 + p**2 * noise0 / p0**4
        )
    else:
        paired = paired.with_columns(utility=p - p0, noise_utility=noise + noise0)
    return (
        paired.drop_nulls("noise_utility")
        .sort(*CELL_OF_RETRIEVER, "qid")
        .group_by(CELL_OF_RETRIEVER, maintain_order=True)
        .agg("utility", "noise_utility")
        .with_columns(variance=pl.col("utility").list.var())
        .select(
            *CELL_OF_RETRIEVER,
            pl.when(pl.col("variance") > 0)
            .then((1.0 - pl.col("noise_utility").list.mean() / pl.col("variance")).clip(0.0))
            .alias("reliability_utility"),
        )
    )
