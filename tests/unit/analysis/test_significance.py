"""Paired comparisons: who is compared with whom, the tests, and the corrections within families."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.significance import SCHEMA, comparisons, with_adjusted
from scipy import stats
from statsmodels.stats.power import TTestPower

QIDS = [f"q{number}" for number in range(10)]


def cell(retriever: str, ordering: str, shift: float = 0.0, k: int = 1, references: str = "lenient") -> pl.DataFrame:
    seed = [ord(letter) for letter in retriever + ordering + references] + [k]
    p = np.random.default_rng(seed).normal(0.6 + shift, 0.1, len(QIDS))
    return pl.DataFrame({"qid": QIDS, "p": p, "p0": 0.5, "utility": (p - 0.5) / 0.5}).with_columns(
        retriever=pl.lit(retriever), ordering=pl.lit(ordering), k=pl.lit(k, pl.Int64), references=pl.lit(references)
    )


def test_a_row_equals_scipys_paired_test() -> None:
    bm25, rel = cell("bm25", "descending"), cell("rel", "descending", 0.1)
    table = comparisons(bm25.sample(fraction=1.0, shuffle=True, seed=0), rel)
    assert table["quantity"].to_list() == ["p", "utility"]
    for row in table.iter_rows(named=True):
        a, b = bm25[row["quantity"]].to_numpy(), rel[row["quantity"]].to_numpy()
        expected = stats.ttest_rel(a, b)
        assert row["t"] == pytest.approx(expected.statistic)
        assert row["p_value"] == pytest.approx(expected.pvalue)
        assert (row["low"], row["high"]) == pytest.approx(tuple(expected.confidence_interval()))
        assert row["mean_difference"] == pytest.approx(np.mean(a - b))
        assert row["d_z"] == pytest.approx(expected.statistic / np.sqrt(10))
        assert (row["n"], row["n_unpaired"], row["reason"]) == (10, 0, None)


def test_the_tests_beside_t_equal_scipys_and_the_detectable_difference_is_of_the_spread() -> None:
    bm25, rel = cell("bm25", "descending"), cell("rel", "descending", 0.1)
    for row in comparisons(bm25, rel, permutations=2000).iter_rows(named=True):
        d = bm25[row["quantity"]].to_numpy() - rel[row["quantity"]].to_numpy()
        assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(d).pvalue)
        flips = stats.permutation_test((d,), np.mean, permutation_type="samples", vectorized=False, n_resamples=2000)
        assert row["p_permutation"] == pytest.approx(flips.pvalue)
        assert row["d_z_low"] < row["d_z"] < row["d_z_high"]
        assert row["sd_difference"] == pytest.approx(d.std(ddof=1))
        power = TTestPower().power(row["detectable_difference"] / d.std(ddof=1), nobs=10, alpha=0.05)
        assert power == pytest.approx(0.8, abs=1e-3)


def test_unseen_references_are_the_same_within_a_retriever_alone() -> None:
    for references, same in (("lenient", True), ("lenient-unseen", False)):
        orderings = ("descending", "ascending")
        bm25 = pl.concat([cell("bm25", ordering, references=references) for ordering in orderings])
        table = comparisons(bm25, cell("rel", "descending", references=references), permutations=100)
        assert table.filter(mark="†")["same_references"].unique().to_list() == [same]
        assert table.filter(mark="‡")["same_references"].all()


def test_who_is_compared_with_whom() -> None:
    orderings = ("ascending", "descending", "random")
    bm25 = pl.concat([cell("bm25", ordering, k=k) for ordering in orderings for k in (1, 2)])
    rel = pl.concat([cell("rel", ordering, k=1) for ordering in orderings])
    compared = ["mark", "retriever", "ordering", "k", "against_retriever", "against_ordering"]
    assert set(comparisons(bm25, rel).select(compared).rows()) == {
        ("†", "bm25", "ascending", 1, "rel", "descending"),
        ("†", "bm25", "descending", 1, "rel", "descending"),
        ("†", "bm25", "random", 1, "rel", "descending"),
        ("‡", "bm25", "descending", 1, "bm25", "ascending"),
        ("‡", "bm25", "descending", 2, "bm25", "ascending"),
    }
    assert set(comparisons(rel, rel)["mark"]) == {"‡"}
    assert set(comparisons(bm25, None)["mark"]) == {"‡"}


def test_references_are_compared_with_their_like() -> None:
    bm25 = pl.concat([cell("bm25", "descending", references=name) for name in ("lenient", "strict")])
    rel = pl.concat([cell("rel", "descending", references=name) for name in ("lenient", "strict")])
    table = comparisons(bm25, rel).filter(quantity="p")
    for row in table.iter_rows(named=True):
        a = bm25.filter(references=row["references"])["p"]
        b = rel.filter(references=row["references"])["p"]
        assert row["t"] == pytest.approx(stats.ttest_rel(a, b).statistic)


def test_queries_without_a_partner_are_left_out_and_counted() -> None:
    bm25 = cell("bm25", "descending").with_columns(
        utility=pl.when(pl.col("qid") == "q4").then(None).otherwise("utility")
    )
    rel = cell("rel", "descending").filter(~pl.col("qid").is_in(["q0", "q1"]))
    p, utility = comparisons(bm25, rel).iter_rows(named=True)
    assert (p["n"], p["n_unpaired"]) == (8, 2)
    assert (utility["n"], utility["n_unpaired"]) == (7, 3)
    kept = [2, 3, 5, 6, 7, 8, 9]
    expected = stats.ttest_rel(bm25["utility"].gather(kept), cell("rel", "descending")["utility"].gather(kept))
    assert utility["p_value"] == pytest.approx(expected.pvalue)


def test_equal_differences_and_single_pairs_have_a_reason() -> None:
    # At k = 1 both orderings are the same context; 0.1 + 0.2 - 0.3 is rounding, not variation.
    same = cell("bm25", "descending")
    twin = same.with_columns(ordering=pl.lit("ascending"), p=(pl.col("p") + 0.1 + 0.2) - 0.3)
    for row in comparisons(pl.concat([same, twin]), None).iter_rows(named=True):
        assert (row["t"], row["p_value"], row["low"], row["d_z"]) == (None, None, None, None)
        assert row["mean_difference"] == pytest.approx(0.0, abs=1e-12)
        assert row["reason"] == "all differences are equal"
    single = comparisons(same, cell("rel", "descending").head(1)).row(0, named=True)
    assert (single["n"], single["p_value"], single["reason"]) == (1, None, "fewer than 2 pairs")
    nobody = comparisons(same, cell("rel", "descending").with_columns(qid=pl.col("qid") + "x")).row(0, named=True)
    assert (nobody["n"], nobody["mean_difference"], nobody["reason"]) == (0, None, "fewer than 2 pairs")


def adjustable(p_values: list[float | None], **columns: list[str]) -> pl.DataFrame:
    count = len(p_values)
    frame = pl.DataFrame([{} for _ in p_values], schema=SCHEMA)
    defaults = {"mark": ["†"] * count, "quantity": ["p"] * count, "references": ["lenient"] * count}
    defaults |= {"retriever": [f"r{place}" for place in range(count)], "ordering": ["descending"] * count}
    return frame.with_columns(**{k: pl.Series(v) for k, v in (defaults | columns).items()}).with_columns(
        p_value=pl.Series(p_values, dtype=pl.Float64), k=pl.lit(2, pl.Int64)
    )


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    table = with_adjusted(adjustable([0.04, 0.01, None, 0.03, 0.005]))
    # Holm: 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 raised to 0.06. BH: 0.005 x 4, 0.01 x 4/2, 0.03 x 4/3, 0.04.
    assert table["p_holm"].to_list() == pytest.approx([0.06, 0.03, None, 0.06, 0.02])
    assert table["p_bh"].to_list() == pytest.approx([0.04, 0.02, None, 0.04, 0.02])
    assert table["family_size"].to_list() == [4] * 5
    assert table["significant"].to_list() == [True, True, None, True, True]


def test_significance_is_uncorrected() -> None:
    table = with_adjusted(adjustable([0.049, 0.05, 0.9, 0.8]))
    assert table["significant"].to_list() == [True, False, False, False]
    assert table["p_holm"][0] > 0.05


def test_families_are_mark_quantity_references() -> None:
    table = with_adjusted(
        adjustable(
            [0.01, 0.02, 0.03, 0.04, 0.04],
            mark=["†", "‡", "†", "†", "†"],
            quantity=["p", "p", "utility", "p", "p"],
            references=["lenient", "lenient", "lenient", "strict", "lenient"],
        )
    )
    families = ["† p lenient", "‡ p lenient", "† utility lenient", "† p strict", "† p lenient"]
    assert table["family"].to_list() == families
    assert table["family_size"].to_list() == [2, 1, 1, 1, 2]
    assert table["p_holm"].to_list() == pytest.approx([0.02, 0.02, 0.03, 0.04, 0.04])


def test_cells_with_the_same_prompts_are_one_test() -> None:
    p_values = [0.01, 0.01, 0.03, 0.02]
    tests = adjustable(
        p_values, retriever=["bm25", "bm25", "bm25", "dense"], ordering=["descending", "ascending", "random", "random"]
    )
    at_two = with_adjusted(tests)
    assert at_two["family_size"].to_list() == [4] * 4
    at_one = with_adjusted(tests.with_columns(k=pl.lit(1, pl.Int64), p_value=pl.Series([0.01, 0.01, 0.01, 0.02])))
    assert at_one["family_size"].to_list() == [2] * 4
    assert at_one["p_holm"].to_list() == pytest.approx([0.02, 0.02, 0.02, 0.02])
    assert at_one["p_value"].to_list() == [0.01, 0.01, 0.01, 0.02]


def test_a_study_without_comparisons_has_an_empty_table_of_all_columns() -> None:
    table = with_adjusted(comparisons(cell("bm25", "descending"), None))
    assert table.height == 0
    assert {"p_holm", "p_bh", "family", "family_size", "significant"} < set(table.columns)
