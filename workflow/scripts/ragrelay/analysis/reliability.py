"""How much of the spread of utility over queries is the queries' own, and not the LLM's sampling."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.vocabulary.columns import CELL_OF_RETRIEVER
from ragrelay.vocabulary.names import NO_ORDERING, ZEROSHOT


def utility_reliability(scores: Mapping[str, str | Path], mode: str) -> pl.DataFrame:
    """retriever, ordering, k, references, reliability_utility of every cell but zero-shot's.

    ``scores`` maps a retriever, ``zeroshot`` among them, to its scores file; ``mode`` as utility.compute_utility. The
    reliability is 1 - mean noise / variance of U over queries, at least 0. The noise of a query's U is that of the mean
    over seeds of P_k and of P_0, each the variance over seeds by their number, carried into U by its derivatives:
    relative U = P_k / P_0 - 1 has var(P_k) / P_0^2 + P_k^2 var(P_0) / P_0^4. A query with one seed takes the variance
    over seeds of the others, pooled within the cell. Null where no query of the cell, or of P_0, has two seeds.
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
    """ordering, k, references, qid with p, the mean of f1 over seeds, and noise, the variance of that mean."""
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
    # References without a context's passages have their P_0 in the same table as the answers (utility._with_baseline).
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
