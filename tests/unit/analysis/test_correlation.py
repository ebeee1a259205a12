"""Relevance transmission: pairing, subsets, counts and reasons; coefficients and p-values are scipy's."""

import re

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import correlation
from ragrelay.analysis.correlation import corrected, transmission, with_adjusted
from scipy import stats

QIDS = [f"q{number:02d}" for number in range(12)]


def utility_rows(k: int = 1, qids: list[str] = QIDS, p0: float = 0.5, seed: int = 0, **changes: object) -> pl.DataFrame:
    utility = np.random.default_rng([seed, k]).standard_normal(len(qids))
    frame = pl.DataFrame({"qid": qids, "utility": utility, "p0": [p0] * len(qids), "p": utility})
    return frame.with_columns(
        retriever=pl.lit("bm25"), ordering=pl.lit("descending"), k=pl.lit(k, pl.Int64), references=pl.lit("lenient")
    ).with_columns(**changes)


def measure_rows(k: int = 1, qids: list[str] = QIDS, name: str = "nDCG", seed: int = 9) -> pl.DataFrame:
    values = np.random.default_rng([seed, k]).integers(0, 5, len(qids)) / 4
    return pl.DataFrame({"qid": qids, "measure": [name] * len(qids), "k": [k] * len(qids), "value": values})


def chosen(table: pl.DataFrame, coefficient: str = "pearson", subset: str = "all", **keys: object) -> dict:
    rows = table.filter(coefficient=coefficient, subset=subset, **keys)
    assert rows.height == 1
    return rows.row(0, named=True)


def test_values_and_p_values_equal_scipy_whatever_the_row_order() -> None:
    utility = pl.concat([utility_rows(1), utility_rows(2)])
    measures = pl.concat([measure_rows(1), measure_rows(2)])
    table = transmission(utility, measures.sample(fraction=1.0, shuffle=True, seed=1), 300, 0)
    for k in (1, 2):
        x, y = utility_rows(k)["utility"], measure_rows(k)["value"]
        for coefficient, test in (
            ("pearson", stats.pearsonr(x, y)),
            ("spearman", stats.spearmanr(x, y)),
            ("kendall", stats.kendalltau(x, y)),
        ):
            row = chosen(table, coefficient, k=k)
            assert row["value"] == pytest.approx(test.statistic, abs=1e-12)
            assert row["p_value"] == pytest.approx(test.pvalue, abs=1e-12)
            assert row["low"] < row["value"] < row["high"]
            assert (row["n"], row["reason"], row["method"]) == (12, None, "bootstrap BCa, expanded")
    assert table.height == 2 * 2 * 3


def test_the_same_bytes_from_any_row_order() -> None:
    utility, measures = pl.concat([utility_rows(1), utility_rows(2)]), pl.concat([measure_rows(1), measure_rows(2)])
    once = transmission(utility, measures, 200, 3).write_csv()
    again = transmission(utility.reverse(), measures.reverse(), 200, 3).write_csv()
    assert once == again
    assert transmission(utility, measures, 200, 4).write_csv() != once


def test_null_utilities_are_left_out_and_counted() -> None:
    utility = utility_rows().with_columns(
        utility=pl.when(pl.col("qid").is_in(["q03", "q07"])).then(None).otherwise("utility")
    )
    row = chosen(transmission(utility, measure_rows(), 100, 0))
    kept = [place for place in range(12) if place not in (3, 7)]
    expected = stats.pearsonr(utility_rows()["utility"].gather(kept), measure_rows()["value"].gather(kept))
    assert (row["n"], row["n_null"], row["n_unmeasured"]) == (10, 2, 0)
    assert row["value"] == pytest.approx(expected.statistic)


def test_queries_without_the_measure_are_left_out_and_counted() -> None:
    utility = utility_rows().with_columns(utility=pl.when(pl.col("qid") == "q00").then(None).otherwise("utility"))
    measures = measure_rows().filter(~pl.col("qid").is_in(["q00", "q01", "q02"]))
    row = chosen(transmission(utility, measures, 100, 0))
    assert (row["n"], row["n_null"], row["n_unmeasured"]) == (9, 1, 2)


def test_a_nan_measure_counts_as_missing() -> None:
    measures = measure_rows().with_columns(value=pl.when(pl.col("qid") == "q05").then(np.nan).otherwise("value"))
    row = chosen(transmission(utility_rows(), measures, 100, 0))
    assert (row["n"], row["n_unmeasured"]) == (11, 1)
    assert row["value"] is not None


def test_low_baselines_are_left_out_of_the_second_subset_only() -> None:
    p0 = [0.05, 0.1, None, *[0.6] * 9]
    utility = utility_rows(p0=0.0).with_columns(p0=pl.Series(p0))
    table = transmission(utility, measure_rows(), 100, 0)
    assert chosen(table, subset="all")["n"] == 12
    low = chosen(table, subset="p0>=0.1")
    kept = [1, *range(3, 12)]
    expected = stats.pearsonr(utility["utility"].gather(kept), measure_rows()["value"].gather(kept))
    assert low["n"] == 10
    assert low["value"] == pytest.approx(expected.statistic)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_constant_measure_gives_null_and_the_reason(value: float) -> None:
    # 0.1 * 3 / 3 differs from 0.1 in the last digit: rounding is no variation.
    noise = pl.Series([value * 3 / 3 if place % 2 else value for place in range(12)])
    table = transmission(utility_rows(), measure_rows().with_columns(value=noise), 100, 0)
    for row in table.iter_rows(named=True):
        assert [row[name] for name in ("value", "low", "high", "p_value", "method")] == [None] * 5
        assert row["reason"] == "nDCG is constant"
        assert row["n"] == 12


def test_rounding_in_utility_is_no_variation() -> None:
    utility = utility_rows().with_columns(utility=pl.Series([(0.1 + 0.2) - 0.3, 0.0] * 6))
    assert chosen(transmission(utility, measure_rows(), 100, 0))["reason"] == "utility is constant"


def test_fewer_than_four_queries_give_null_and_the_reason() -> None:
    row = chosen(transmission(utility_rows(qids=QIDS[:3]), measure_rows(), 100, 0))
    assert (row["value"], row["n"], row["reason"]) == (None, 3, "fewer than 4 queries")


def test_a_measure_absent_at_this_k_is_a_row_with_no_pairs() -> None:
    measures = pl.concat([measure_rows(2), measure_rows(1, name="P")])
    table = transmission(utility_rows(1), measures, 100, 0)
    assert chosen(table, measure="nDCG")["n"] == 0
    assert chosen(table, measure="nDCG")["n_unmeasured"] == 12
    assert chosen(table, measure="P")["n"] == 12


def test_rank_coefficients_have_fewer_resamples_and_large_samples_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlation, "RESAMPLES_AT_MOST", {"spearman": 200, "kendall": 100})
    table = transmission(utility_rows(), measure_rows(), 300, 0)
    used = {name: chosen(table, name)["resamples"] for name in ("pearson", "spearman", "kendall")}
    assert used == {"pearson": 300, "spearman": 200, "kendall": 100}
    monkeypatch.setattr(correlation, "RANKS_BOOTSTRAPPED_AT_MOST", 11)
    table = transmission(utility_rows(), measure_rows(), 300, 0)
    methods = {name: chosen(table, name)["method"] for name in ("pearson", "spearman", "kendall")}
    assert methods == {
        "pearson": "bootstrap BCa, expanded",
        "spearman": "Fisher z, Bonett-Wright variance",
        "kendall": "Fisher z, asymptotic variance",
    }
    spearman = chosen(table, "spearman")
    assert spearman["low"] < spearman["value"] < spearman["high"]
    assert spearman["resamples"] is None


def test_equal_numbers_of_queries_are_resampled_alike() -> None:
    # Two cells with the same numbers in both columns: each gets what it gets alone.
    both = pl.concat([utility_rows(1), utility_rows(1, ordering=pl.lit("ascending"))])
    together = transmission(both, measure_rows(), 200, 0)
    alone = transmission(utility_rows(1), measure_rows(), 200, 0)
    assert together.filter(ordering="descending").equals(alone)
    assert together.filter(ordering="ascending").drop("ordering").equals(alone.drop("ordering"))


def of_rho(x: np.ndarray, y: np.ndarray, others: int = 0) -> dict:
    """The row of rho in correlation.csv, beside ``others`` of other retrievers without a correlation."""
    qids = [f"q{place:02}" for place in range(len(x))]
    random, parts = np.random.default_rng(0), []
    for name in ["own", *(f"other{place}" for place in range(others))]:
        column = x if name == "own" else random.permutation(x)
        names = {"retriever": name, "ordering": "descending", "k": 1, "references": "strict", "qid": qids}
        utility = pl.DataFrame(names | {"p": column, "p0": 0.5, "utility": column})
        measures = pl.DataFrame({"qid": qids, "measure": "nDCG", "k": 1, "value": y}).cast({"k": pl.Int64})
        parts.append(transmission(utility.cast({"k": pl.Int64}), measures, 999, 0))
    table = corrected(with_adjusted(pl.concat(parts)))
    return table.filter(retriever="own", coefficient="spearman", subset="all").row(0, named=True)


@pytest.mark.parametrize(("n", "verdict"), [(8, "too few queries"), (11, "too few queries"), (12, "above zero")])
def test_a_verdict_needs_12_queries(n: int, verdict: str) -> None:
    """Of seven queries, ρ .86 [.62, .97] said *they do*."""
    ranks = np.arange(n)
    row = of_rho(ranks + 0.0, ranks + 1.2 * (ranks % 3 == 1))
    assert 0 < row["low"] < row["value"] < 1 and row["p_permutation"] < 0.05
    assert (row["verdict"], row["remark"]) == (verdict, f"{n} queries, but 12 are needed" if n < 12 else None)


@pytest.mark.parametrize(("hits", "column"), [(3, "nDCG"), (7, "nDCG"), (8, None), (22, "nDCG"), (7, "utility")])
def test_a_verdict_needs_8_queries_without_the_most_frequent_value(hits: int, column: str | None) -> None:
    """A measure that is 1 for 3 of 28 queries is a comparison of three with the rest."""
    random = np.random.default_rng(3)
    two, other = np.where(np.arange(28) < hits, 1.0, 0.0), random.standard_normal(28)
    varied = 4 * two + other
    row = of_rho(two, varied) if column == "utility" else of_rho(varied, two)
    rare = min(hits, 28 - hits)
    few = f"{column} differs from its most common value for only {rare} of 28 queries, but 8 are needed"
    assert row["remark"] == (few if column else None)
    assert row["verdict"] == ("too few queries" if column else "above zero")


def test_a_verdict_is_that_after_holms_correction() -> None:
    """As the page counts them: the same correlation is undecided among many others."""
    random = np.random.default_rng(2)
    x = random.standard_normal(30)
    y = 0.42 * x + random.standard_normal(30)
    alone, among = of_rho(x, y), of_rho(x, y, 20)
    assert alone["verdict"] == "above zero" and alone["remark"] is None
    assert alone["p_permutation"] == among["p_permutation"] < 0.05 <= among["p_permutation_holm"]
    assert among["low"] == alone["low"] > 0 and among["verdict"] == "undecided"
    said = re.fullmatch(r"p = ([\d.]+) before and ([\d.]+) after Holm’s correction", str(among["remark"]))
    assert said and float(said[1]) == pytest.approx(among["p_permutation"], rel=0.05)
    assert float(said[2]) == pytest.approx(among["p_permutation_holm"], rel=0.05)


@pytest.mark.parametrize(
    ("verdict", "low", "high", "p_holm", "remark"),
    [
        ("undecided", -0.13, 0.96, 0.0246, "p = 0.025 after Holm’s correction, but the interval includes 0"),
        ("undecided", -0.9, 0.02, 0.0004, "p = 0.0004 after Holm’s correction, but the interval includes 0"),
        ("undecided", -0.13, 0.96, 0.2, None),
        ("undecided", None, None, 0.01, None),
        ("too few queries", -0.13, 0.96, 0.01, "11 queries, but 12 are needed"),
        (None, -0.13, 0.96, 0.01, None),
    ],
)
def test_a_remark_says_where_the_interval_alone_is_undecided(
    verdict: str | None, low: float | None, high: float | None, p_holm: float, remark: str | None
) -> None:
    """Of rho with a small p and an interval over 0, a reader would else look for the mistake."""
    few = remark if verdict == "too few queries" else None
    row = {"verdict": verdict, "low": low, "high": high, "p_permutation": p_holm / 6, "p_permutation_holm": p_holm}
    row |= {"p_value": 0.9, "p_holm": 0.9, "remark": few}
    types = {name: pl.Float64 for name in row if name not in ("verdict", "remark")}
    of_clusters = row | {"p_permutation": None, "p_permutation_holm": None, "p_value": p_holm / 6, "p_holm": p_holm}
    for cells in (row, of_clusters):
        frame = pl.DataFrame([cells], schema_overrides={**types, "verdict": pl.String, "remark": pl.String})
        said = corrected(frame).row(0, named=True)
        assert (said["verdict"], said["remark"]) == (verdict, remark)
