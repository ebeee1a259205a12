"""Differences of dependent correlations: plain loops, a closed form for normal data, and who is compared."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.bootstrap import jackknife_error, pearson_draws, resample_counts
from ragrelay.analysis.correlation import transmission
from ragrelay.analysis.dependent import SCHEMA, differences, with_adjusted
from scipy import stats

QIDS = [f"q{place:03d}" for place in range(60)]


def study(references: str = "lenient", qids: list[str] = QIDS) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two retrievers, two orderings, three k: utilities that share their queries' noise; nDCG of either retriever."""
    random = np.random.default_rng(3)
    shared, utilities, measures = random.standard_normal(len(qids)), [], []
    for retriever, strength in (("bm25", 0.8), ("dense", 0.3)):
        for k in (1, 2, 5):
            value = random.uniform(0, 1, len(qids))
            names = {"retriever": pl.lit(retriever), "k": pl.lit(k, pl.Int64)}
            measures.append(pl.DataFrame({"qid": qids, "value": value}).with_columns(measure=pl.lit("nDCG"), **names))
            for ordering in ("descending", "ascending"):
                utility = strength * value / k + 0.1 * shared + 0.1 * random.standard_normal(len(qids))
                frame = pl.DataFrame({"qid": qids, "utility": utility, "p0": 0.5})
                utilities.append(frame.with_columns(ordering=pl.lit(ordering), references=pl.lit(references), **names))
    return pl.concat(utilities), pl.concat(measures)


def test_values_are_those_of_the_table_of_correlations() -> None:
    utility, measures = study()
    table = differences(utility, measures, 200, 0)
    for retriever in ("bm25", "dense"):
        mine = measures.filter(retriever=retriever).drop("retriever")
        rs = transmission(utility.filter(retriever=retriever), mine, 100, 0).filter(coefficient="pearson", subset="all")
        at = {(row["ordering"], row["k"]): row["value"] for row in rs.iter_rows(named=True)}
        for row in table.filter(retriever=retriever).iter_rows(named=True):
            assert row["value"] == pytest.approx(at[row["ordering"], row["k"]], abs=1e-12)
            if row["comparison"] == "trend over k":
                slope = np.polyfit([1, 2, 5], [at[row["ordering"], k] for k in (1, 2, 5)], 1)[0]
                assert row["difference"] == pytest.approx(slope)
            else:
                assert row["difference"] == pytest.approx(row["value"] - row["against_value"])


def test_who_is_compared_with_whom() -> None:
    table = differences(*study(), 50, 0)
    ends = ["retriever", "ordering", "k", "against_retriever", "against_ordering", "against_k"]
    assert set(table.filter(comparison="retrievers").select(ends).rows()) == {
        ("bm25", ordering, k, "dense", ordering, k) for ordering in ("descending", "ascending") for k in (1, 2, 5)
    }
    assert set(table.filter(comparison="orderings").select(ends).rows()) == {
        (retriever, "descending", k, retriever, "ascending", k) for retriever in ("bm25", "dense") for k in (1, 2, 5)
    }
    assert set(table.filter(comparison="trend over k").select(ends).rows()) == {
        (retriever, ordering, 5, retriever, ordering, 1)
        for retriever in ("bm25", "dense")
        for ordering in ("descending", "ascending")
    }
    assert table.schema == pl.Schema(SCHEMA)


def test_unseen_references_differ_between_retrievers_and_k_but_not_orderings() -> None:
    table = differences(*study("lenient-unseen"), 50, 0)
    same = {name: part["same_references"].unique().to_list() for (name,), part in table.group_by("comparison")}
    assert same == {"retrievers": [False], "orderings": [True], "trend over k": [False]}
    assert differences(*study(), 50, 0)["same_references"].all()


def test_resamples_with_missing_queries_equal_a_plain_loop() -> None:
    random = np.random.default_rng(0)
    x, y, z = random.standard_normal((3, 25))
    x[3], z[[5, 6]] = np.nan, np.nan
    made = pearson_draws([(x, y), (z, y)], 100, seed=2)
    (counts,) = resample_counts(25, 100, seed=2)
    for column, place in ((x, 0), (z, 1)):
        known = np.isfinite(column)
        pair = column[known], y[known]
        assert made.values[place] == pytest.approx(stats.pearsonr(*pair).statistic)
        loop = [stats.pearsonr(*(np.repeat(c, row[known]) for c in pair)).statistic for row in counts.astype(int)]
        np.testing.assert_allclose(made.draws[:, place], loop, atol=1e-12)
        kept = [np.flatnonzero(known & (np.arange(25) != out)) for out in range(25)]
        loop = [stats.pearsonr(column[rows], y[rows]).statistic for rows in kept]
        np.testing.assert_allclose(made.jackknife[:, place], loop, atol=1e-12)


def zou(r1: float, r2: float, between: float, n: int) -> tuple[float, float]:
    """Interval of r1 - r2 that share a column (Zou 2007, Psychological Methods 12), for normal data."""
    half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    (l1, u1), (l2, u2) = (np.tanh(np.arctanh(r) + np.array([-half, half])) for r in (r1, r2))
    covariance = (between - 0.5 * r1 * r2) * (1 - r1**2 - r2**2 - between**2) + between**3
    c = covariance / ((1 - r1**2) * (1 - r2**2))
    low = r1 - r2 - np.sqrt((r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2))
    high = r1 - r2 + np.sqrt((u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2))
    return float(low), float(high)


def test_the_interval_agrees_with_the_closed_form_for_normal_data() -> None:
    qids = [f"q{place}" for place in range(800)]
    common, one, two, noise = np.random.default_rng(1).standard_normal((4, 800))
    y, first, second = common + noise, common + 0.5 * one, 0.5 * common + two
    utility = pl.concat(
        pl.DataFrame({"qid": qids, "utility": column, "ordering": ordering})
        for ordering, column in (("descending", first), ("ascending", second))
    ).with_columns(retriever=pl.lit("bm25"), k=pl.lit(1, pl.Int64), references=pl.lit("lenient"))
    measures = pl.DataFrame({"qid": qids, "value": y, "measure": "nDCG", "retriever": "bm25", "k": 1})
    row = differences(utility, measures, 4000, 0).filter(comparison="orderings").row(0, named=True)
    r = np.corrcoef([first, second, y])
    assert (row["low"], row["high"]) == pytest.approx(zou(r[0, 2], r[1, 2], r[0, 1], 800), abs=0.012)


def test_interval_and_p_value_are_the_jackknifes() -> None:
    utility, measures = study()
    row = differences(utility, measures, 500, 0).filter(comparison="retrievers", k=2).row(0, named=True)
    pairs = []
    for retriever in ("bm25", "dense"):
        cell = {"retriever": retriever, "k": 2}
        x = utility.filter(**cell, ordering=row["ordering"])["utility"].to_numpy()
        pairs.append((x, measures.filter(**cell)["value"].to_numpy()))
    left_out = [
        stats.pearsonr(*(np.delete(column, place) for column in pairs[0])).statistic
        - stats.pearsonr(*(np.delete(column, place) for column in pairs[1])).statistic
        for place in range(60)
    ]
    # The jackknife's error, by Tukey's pseudo-values.
    pseudo = 60 * row["difference"] - 59 * np.array(left_out)
    test = stats.ttest_1samp(pseudo - pseudo.mean() + row["difference"], 0)
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert row["bootstrap_low"] == pytest.approx(row["low"], abs=0.1)
    assert row["bootstrap_high"] == pytest.approx(row["high"], abs=0.1)


@pytest.mark.parametrize("n", [43, 54])
def test_equal_correlations_are_seldom_found_to_differ(n: int) -> None:
    random, rejected = np.random.default_rng(4), []
    for _ in range(1000):
        common, one, two, noise = random.standard_normal((4, n))
        made = pearson_draws([(common + one, common + noise), (common + two, common + noise)], 1, seed=0)
        error = jackknife_error(made.jackknife[:, 0] - made.jackknife[:, 1])
        rejected.append(abs(made.values[0] - made.values[1]) > stats.t.ppf(0.975, n - 1) * error)
    assert 0.03 <= np.mean(rejected) <= 0.07


def test_where_a_cell_has_no_correlation_the_row_says_why() -> None:
    utility, measures = study()
    flat = measures.with_columns(value=pl.when(pl.col("retriever") == "dense").then(0.0).otherwise("value"))
    table = differences(utility, flat, 50, 0)
    row = table.filter(comparison="retrievers").row(0, named=True)
    assert (row["against_value"], row["difference"], row["p_value"]) == (None, None, None)
    assert row["reason"] == "nDCG is constant"
    assert row["value"] is not None
    assert table.filter(comparison="orderings", retriever="bm25")["p_value"].is_not_null().all()


def test_one_prompt_in_both_orderings_is_no_difference() -> None:
    utility, measures = study()
    twin = utility.filter(ordering="descending").with_columns(ordering=pl.lit("ascending"))
    table = differences(pl.concat([utility.filter(ordering="descending"), twin]), measures, 50, 0)
    row = table.filter(comparison="orderings").row(0, named=True)
    assert (row["difference"], row["p_value"]) == (0.0, None)
    assert row["reason"] == "the difference is the same in every resample"


def test_queries_that_some_cells_lack_are_counted() -> None:
    utility, measures = study()
    fewer = utility.filter(~((pl.col("retriever") == "dense") & pl.col("qid").is_in(QIDS[:4])))
    row = differences(fewer, measures, 50, 0).filter(comparison="retrievers").row(0, named=True)
    assert (row["n"], row["n_partial"]) == (56, 4)


def test_families_are_comparison_references_measure() -> None:
    table = with_adjusted(differences(*study(), 50, 0))
    sizes = dict(table.select("family", "family_size").unique().rows())
    # Of the two orderings at three k, those at k = 1 have the same prompts, so retrievers are compared five times.
    assert sizes == {"retrievers lenient nDCG": 5, "orderings lenient nDCG": 6, "trend over k lenient nDCG": 4}
    assert (table["p_holm"] >= table["p_bh"]).all()


def test_the_same_from_any_row_order() -> None:
    utility, measures = study()
    once = differences(utility, measures, 60, 1)
    again = differences(utility.sort("qid", descending=True, maintain_order=True), measures.reverse(), 60, 1)
    assert once.equals(again)


def test_queries_that_no_compared_cell_has_do_not_count() -> None:
    utility, measures = study()
    twenty = QIDS[:20]
    few = utility.filter(pl.col("qid").is_in(twenty))
    # A third retriever with all 60 queries changes nothing of a comparison between the other two.
    third = [frame.filter(retriever="dense").with_columns(retriever=pl.lit("rel")) for frame in (utility, measures)]
    alone = differences(few, measures, 50, 0).filter(comparison="retrievers", against_retriever="dense")
    beside = differences(pl.concat([few, third[0]]), pl.concat([measures, third[1]]), 50, 0).filter(
        comparison="retrievers", against_retriever="dense"
    )
    for name in ("n", "difference", "low", "high", "p_value"):
        assert beside[name].to_list() == pytest.approx(alone[name].to_list()), name


def test_a_column_that_resampling_makes_constant_leaves_the_jackknife() -> None:
    utility, measures = study(qids=QIDS[:12])
    low = measures.with_columns(
        value=pl.when(pl.col("qid").is_in(QIDS[:2])).then(0.5 + pl.col("value") / 4).otherwise(1.0)
    )
    row = differences(utility, low, 200, 0).filter(comparison="retrievers").row(0, named=True)
    of_measure = "nDCG of bm25, descending, k = 1, which is the same in 10 of 12 rows,"
    assert (row["bootstrap_low"], row["reason"]) == (
        None,
        f"bootstrap: {of_measure} is constant in 28 of 200 resamples",
    )
    assert row["low"] < row["difference"] < row["high"]
    assert 0 < row["p_value"] <= 1
