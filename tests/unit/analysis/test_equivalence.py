"""Equivalence: two one-sided tests against statsmodels', what decides a verdict, and the level at the margin."""

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.equivalence import equivalences
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.verdicts import BETTER, EQUIVALENT, MUCH_BETTER, MUCH_WORSE, TOO_FEW, UNDECIDED
from statsmodels.stats.weightstats import DescrStatsW

MARGIN = 0.02


def cells(ps: dict[str, np.ndarray], references: str = "lenient", ordering: str = "descending") -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"qid": [f"q{place:03d}" for place in range(len(p))], "p": p}).with_columns(
            retriever=pl.lit(name), ordering=pl.lit(ordering), k=pl.lit(2, pl.Int64), references=pl.lit(references)
        )
        for name, p in ps.items()
    )


def columns(n: int = 200, seed: int = 0, **shifts: float) -> dict[str, np.ndarray]:
    """P of rel, and of others that differ from it by ``shifts`` in the mean, with normal noise of mean 0 and
    standard deviation 0.05."""
    random = np.random.default_rng(seed)
    rel, ps = random.uniform(0.4, 0.8, n), {}
    for name, shift in shifts.items():
        noise = random.normal(0, 1, n)
        ps[name] = rel + shift + 0.05 * (noise - noise.mean()) / noise.std(ddof=1)
    return {"rel": rel, **ps}


def test_a_row_holds_two_one_sided_paired_tests_and_their_interval() -> None:
    ps = columns(bm25=0.005)
    row = equivalences(cells(ps), "rel", MARGIN).row(0, named=True)
    difference = ps["bm25"] - ps["rel"]
    p_value, (_, not_worse, _), (_, not_better, _) = DescrStatsW(difference).ttost_mean(-MARGIN, MARGIN)
    # Student's are the larger here or nearly so: the noise is hardly skewed.
    assert (row["p_not_worse"], row["p_not_better"]) == pytest.approx((not_worse, not_better), rel=0.5)
    assert row["p_value"] == max(row["p_not_worse"], row["p_not_better"]) >= p_value
    means = Means.cautious(difference[:, None])
    assert (means.p_less(row["high"])[0], means.p_greater(row["low"])[0]) == pytest.approx((0.05, 0.05))
    assert (row["n"], row["margin"], row["against_retriever"]) == (200, MARGIN, "rel")
    assert (row["low"] > -MARGIN and row["high"] < MARGIN) == (row["p_value"] < 0.05)


def test_without_a_margin_answers_are_better_worse_or_undecided() -> None:
    ps = columns(same=0.0, above=0.05, below=-0.05, near=0.0132)
    table = equivalences(cells(ps), "rel", None)
    assert dict(table.select("retriever", "verdict").rows()) == {
        "same": "undecided", "above": BETTER, "below": "worse", "near": BETTER,
    }  # fmt: skip
    assert table["margin"].null_count() == table["p_value"].null_count() == table["p_holm"].null_count() == 4
    assert table["low"].null_count() == table["verdict_low"].null_count() == 0


def test_verdicts_and_holm_over_the_retrievers_of_a_cell() -> None:
    ps = columns(same=0.0, above=0.05, below=-0.05, near=0.0132)
    table = equivalences(cells(ps), "rel", MARGIN)
    verdicts = dict(table.select("retriever", "verdict").rows())
    assert verdicts == {"same": EQUIVALENT, "above": MUCH_BETTER, "below": MUCH_WORSE, "near": BETTER}
    assert table["family_size"].to_list() == [4] * 4
    near = table.filter(retriever="near").row(0, named=True)
    assert near["p_value"] < 0.05 < near["p_holm"]
    alone = equivalences(cells({name: ps[name] for name in ("rel", "near")}), "rel", MARGIN).row(0, named=True)
    assert alone["p_holm"] == alone["p_value"] == near["p_value"]


def test_a_difference_that_no_test_finds_is_no_equivalence() -> None:
    ps = columns(n=20, bm25=0.001)
    ps["bm25"] += np.random.default_rng(1).normal(0, 0.3, 20)
    assert equivalences(cells(ps), "rel", MARGIN)["verdict"].to_list() == [UNDECIDED]


def test_cells_are_compared_with_the_same_cell_and_never_on_unseen_references() -> None:
    ps = columns(bm25=0.0)
    ascending = cells({"rel": ps["rel"] - 0.3, "bm25": ps["bm25"] - 0.3}, ordering="ascending")
    random = cells({"bm25": ps["bm25"]}, ordering="random")
    unseen = cells(ps, references="lenient-unseen")
    table = equivalences(pl.concat([cells(ps), ascending, random, unseen]), "rel", MARGIN)
    assert table["ordering"].to_list() == ["ascending", "descending"]
    assert table["verdict"].to_list() == [EQUIVALENT] * 2
    assert set(table["references"]) == {"lenient"}


def test_no_reference_retriever_no_rows_and_few_queries_no_verdict() -> None:
    ps = columns(n=10, bm25=0.0)
    assert equivalences(cells(ps), None, MARGIN).is_empty()
    assert equivalences(cells(ps), "perfect", MARGIN).is_empty()
    few = cells({"rel": ps["rel"], "bm25": np.where(np.arange(10) < 4, ps["bm25"], np.nan)}).with_columns(
        pl.col("p").fill_nan(None)
    )
    row = equivalences(few, "rel", MARGIN).row(0, named=True)
    assert (row["n"], row["n_unpaired"], row["verdict"], row["reason"]) == (4, 6, TOO_FEW, "fewer than 5 queries")
    same = equivalences(cells({"rel": ps["rel"], "bm25": ps["rel"]}), "rel", MARGIN).row(0, named=True)
    assert (same["verdict"], same["reason"]) == (TOO_FEW, "all differences are equal")


def test_a_difference_at_the_margin_is_called_equivalent_no_more_often_than_promised() -> None:
    random = np.random.default_rng(0)
    for spread in (random.normal(0, 0.03, (43, 4000)), 0.01 * (np.exp(random.normal(0, 1, (43, 4000))) - np.exp(0.5))):
        means = Means.cautious(MARGIN + spread)
        called = np.maximum(means.p_greater(-MARGIN), means.p_less(MARGIN)) < 0.05
        assert 0.03 < called.mean() < 0.06 + np.sqrt(0.05 * 0.95 / 4000)
