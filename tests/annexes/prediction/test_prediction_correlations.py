"""Predictors and P given P_0, and over the contexts of one query, against residuals and centred columns."""

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.correlations import given_p0, predictors_within_queries
from scipy import stats

QUERIES = [f"q{number}" for number in range(40)]
RANDOM = np.random.default_rng(5)
P0 = RANDOM.uniform(0.3, 0.6, len(QUERIES))
RETRIEVERS = ("bm25", "dense")
VALUES = {name: RANDOM.normal(size=len(QUERIES)) for name in RETRIEVERS}
P = {name: P0 + 0.05 * VALUES[name] + RANDOM.normal(0, 0.1, len(QUERIES)) for name in RETRIEVERS}


def utility() -> pl.DataFrame:
    """P as drawn in ordering descending; turned around in another ordering and on unseen references."""
    seen = pl.concat(
        pl.DataFrame({"retriever": name, "ordering": "descending", "k": 2, "references": "lenient", "qid": QUERIES,
                      "p": P[name], "p0": P0})
        for name in RETRIEVERS
    )  # fmt: skip
    others = {"ordering": pl.lit("random"), "references": pl.lit("lenient-unseen")}
    turned = [seen.with_columns(p=1 - pl.col("p"), **{name: value}) for name, value in others.items()]
    both = pl.concat([seen, *turned])
    return both.with_columns(utility=(pl.col("p") - pl.col("p0")) / pl.col("p0"), k=pl.col("k").cast(pl.Int64))


def predictions(name: str) -> pl.DataFrame:
    """One predictor of the context with an ordering, one without, and two of the query alone."""
    values = {
        ("context_perplexity_whole", "descending"): VALUES[name],
        ("context_perplexity_whole", "random"): -VALUES[name],
        ("nqc", None): VALUES[name] ** 3,
        ("query_length", None): np.arange(40.0),
        ("zeroshot_agreement", None): P0,
    }
    return pl.concat(
        pl.DataFrame({"qid": QUERIES, "k": 2, "ordering": ordering, "predictor": predictor, "value": value},
                     schema_overrides={"ordering": pl.String})
        for (predictor, ordering), value in values.items()
    )  # fmt: skip


PREDICTIONS = {name: predictions(name) for name in RETRIEVERS}


def residuals(of: np.ndarray, given: np.ndarray) -> np.ndarray:
    slope, intercept = np.polyfit(given, of, 1)
    return of - slope * given - intercept


def test_given_p0_is_the_correlation_of_residuals() -> None:
    table = given_p0(PREDICTIONS, utility(), "descending")
    assert set(table["ordering"]) == {"descending"} and set(table["references"]) == {"lenient"}
    assert table.height == len(RETRIEVERS) * 4 and set(table["n"]) == {40}
    for name in RETRIEVERS:
        row = table.row(by_predicate=(pl.col("retriever") == name) & (pl.col("predictor") == "nqc"), named=True)
        x, y, p0 = VALUES[name] ** 3, P[name], P0
        assert row["partial_r"] == pytest.approx(np.corrcoef(residuals(x, p0), residuals(y, p0))[0, 1])
        x, y, p0 = (stats.rankdata(column) for column in (x, y, p0))
        assert row["partial_rho"] == pytest.approx(np.corrcoef(residuals(x, p0), residuals(y, p0))[0, 1])
        assert row["partial_rho_low"] < row["partial_rho"] < row["partial_rho_high"]


def test_within_queries_compares_the_contexts_of_one_query() -> None:
    """With two contexts a query, r is that of the differences through the origin."""
    table = predictors_within_queries(PREDICTIONS, utility(), "descending", dict.fromkeys(RETRIEVERS, "bm25"))
    assert set(table["predictor"]) == {"context_perplexity_whole", "nqc"}
    assert set(table["references"]) == {"lenient"}
    y = P["bm25"] - P["dense"]
    for predictor, power in (("context_perplexity_whole", 1), ("nqc", 3)):
        x = VALUES["bm25"] ** power - VALUES["dense"] ** power
        row = table.row(by_predicate=(pl.col("predictor") == predictor) & (pl.col("k") == 2), named=True)
        assert row["r"] == pytest.approx((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))
        assert row["low"] < row["r"] < row["high"] and (row["n_queries"], row["n"]) == (40, 80)
