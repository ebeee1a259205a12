"""Lengths of thoughts per cell, and their differences paired by query, from made answer files."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.mean_tests import METHOD_OF_CLUSTERS, ClusterMeans
from ragrelay.annexes.thoughts.lengths import COLUMNS, DIFFERENCE_COLUMNS, WORDS_FROM, compared, describe_thoughts
from ragrelay.base.vocabulary.columns import ANSWERS_PART, schema_of
from statsmodels.stats.multitest import multipletests

from tests.annexes.thoughts.made_thoughts import answers, made
from tests.unit.report.second_way import between, p_cautious

BM25, DENSE, NONE = ("bm25", "descending", 2), ("dense", "descending", 2), ("zeroshot", "none", 0)
CELL = ["retriever", "ordering", "k"]


def means(frame: pl.DataFrame, cell: tuple[str, str, int]) -> dict[str, float]:
    """Mean over seeds of the known tokens, by query, without the package."""
    found: dict[str, list[int]] = {}
    for retriever, ordering, k, qid, _, tokens, end in frame.iter_rows():
        if (retriever, ordering, k) == cell and (tokens is not None or end == "none"):
            found.setdefault(qid, []).append(0 if end == "none" else tokens)
    return {qid: float(np.mean(values)) for qid, values in found.items()}


def test_a_cell_has_its_means_over_queries_and_counts_how_thoughts_end() -> None:
    frame = answers([
        (*BM25, "q1", 1, 10, "mark"), (*BM25, "q1", 2, 30, "budget"), (*BM25, "q2", 1, 100, "unfinished"),
        (*BM25, "q2", 2, None, "mark"), (*BM25, "q3", 1, None, "mark"), (*BM25, "q3", 2, None, None),
        (*BM25, "q4", 1, None, "none"), (*BM25, "q4", 2, 40, "mark"),
    ])  # fmt: skip
    (row,) = describe_thoughts(frame, None, None, 10**6)["thoughts"].to_dicts()
    assert row["mean_tokens"] == (20 + 100 + 20) / 3, "a seed counts as much as a query has seeds; none is 0 tokens"
    assert (row["n"], row["n_unknown"], row["n_queries"]) == (8, 3, 3), "unknown tokens are counted, and in no mean"
    assert [row[end] for end in ("mark", "budget", "unfinished", "none")] == [4, 1, 1, 1]
    assert row["low"] is None and row["reason"] == "fewer than 5 queries"


def test_tables_have_their_declared_columns() -> None:
    tables = describe_thoughts(made(), "bm25", None, 10**6)
    for name, columns in (("thoughts", COLUMNS), ("thought_differences", DIFFERENCE_COLUMNS)):
        declared = {column: kind for column, kind in schema_of(columns).items() if column not in ANSWERS_PART}
        assert dict(tables[name].schema) == declared


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3]])
def test_intervals_and_verdicts_are_those_of_paired_differences(seeds: list[int]) -> None:
    grid: dict[str, Any] = {
        "retrievers": ["bm25", "dense", "rel", "nrel"],
        "orderings": ["descending", "ascending"],
        "k": [2, 5],
    }
    grid["seeds"] = seeds
    frame = made(n=44, grid=grid)
    tables = describe_thoughts(frame, "bm25", None, 10**6)
    for row in tables["thoughts"].iter_rows(named=True):
        values = np.array(list(means(frame, tuple(row[name] for name in CELL)).values()))
        assert row["n_queries"] == len(values)
        assert row["mean_tokens"] == pytest.approx(values.mean())
        assert (row["low"], row["high"]) == pytest.approx(between(values))
    found = tables["thought_differences"]
    others = grid["orderings"], grid["k"]
    pairs = [*product(grid["retrievers"], *others, ["zeroshot"]), *product(grid["retrievers"][1:], *others, ["bm25"])]
    assert found.select(*CELL, "against_retriever").rows() == pairs
    for row in found.iter_rows(named=True):
        against = row["against_retriever"]
        one = means(frame, (row["retriever"], row["ordering"], row["k"]))
        other = means(frame, NONE if against == "zeroshot" else (against, row["ordering"], row["k"]))
        both = sorted(one.keys() & other.keys())
        values = np.array([one[qid] - other[qid] for qid in both])
        assert (row["n"], row["n_unpaired"]) == (len(both), len(one.keys() ^ other.keys()))
        assert row["mean_difference"] == pytest.approx(values.mean())
        assert row["mean_tokens"] - row["against_tokens"] == pytest.approx(values.mean())
        low, high = between(values) or (0.0, 0.0)
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["p_verdict"] == pytest.approx(p_cautious(values))
        word = "more" if low > 0 else "fewer" if high < 0 else "undecided"
        assert row["verdict"] == (word if row["n"] >= WORDS_FROM else "too few queries")
    for (_,), family in found.group_by("against_retriever"):
        holm = multipletests(family["p_verdict"].to_numpy(), method="holm")[1]
        assert family["p_holm"].to_numpy() == pytest.approx(holm) and set(family["family_size"]) == {family.height}
    assert found["n_unpaired"].sum() > 0 or len(seeds) > 1
    words = {(row["retriever"], row["against_retriever"]): row["verdict"] for row in found.filter(k=2).to_dicts()}
    assert words["nrel", "zeroshot"] == words["nrel", "bm25"] == "more"
    assert words["rel", "zeroshot"] == words["rel", "bm25"] == "fewer"


def test_orderings_of_one_passage_are_one_test() -> None:
    grid = {"retrievers": ["bm25", "dense"], "orderings": ["descending", "ascending"], "k": [1, 2], "seeds": [1]}
    found = describe_thoughts(made(grid=grid), "bm25", None, 10**6)["thought_differences"]
    assert found.filter(against_retriever="zeroshot")["family_size"].unique().to_list() == [6]
    assert found.filter(against_retriever="bm25")["family_size"].unique().to_list() == [3]


def test_a_thought_that_was_cut_counts_as_long_as_it_got() -> None:
    whole, cut = (describe_thoughts(made(budget=budget), None, None, 10**6)["thoughts"] for budget in (10**6, 150))
    assert cut["budget"].sum() > 0 == whole["budget"].sum()
    assert (cut["mean_tokens"] < whole["mean_tokens"]).all()


def test_few_queries_and_equal_thoughts_have_no_verdict() -> None:
    """Below 5 queries there is no interval, below 36 no word; a budget that cuts all thoughts leaves no difference."""
    for n, expected in ((4, None), (35, "too few queries"), (36, "more")):
        rows = [
            (*cell, f"q{q}", 1, 50 + q + (20 + q % 3) * (cell == BM25), "mark")
            for cell in (BM25, NONE)
            for q in range(n)
        ]
        (row,) = describe_thoughts(answers(rows), None, None, 10**6)["thought_differences"].to_dicts()
        assert row["verdict"] == expected or (row["reason"] == "fewer than 5 queries" and n == 4)
    equal = answers([(*cell, f"q{q}", 1, 8, "budget") for cell in (BM25, DENSE, NONE) for q in range(20)])
    tables = describe_thoughts(equal, "bm25", None, 10**6)
    assert set(tables["thoughts"]["reason"]) == {"all queries have the same number of tokens"}
    assert set(tables["thought_differences"]["reason"]) == {"all differences are equal"}
    assert tables["thought_differences"]["verdict"].to_list() == ["too few queries"] * 3


def test_queries_that_come_in_clusters_are_tested_by_cluster() -> None:
    frame = made(n=40)
    clusters = {f"q{number}": number // 2 for number in range(40)}
    (row,) = describe_thoughts(frame, None, clusters, 10**6)["thought_differences"].filter(
        retriever="nrel", ordering="descending", k=5
    ).to_dicts()  # fmt: skip
    one, other = means(frame, ("nrel", "descending", 5)), means(frame, NONE)
    both = sorted(one.keys() & other.keys())
    values = np.array([one[qid] - other[qid] for qid in both])
    (low,), (high,) = ClusterMeans.of(values, np.array([clusters[qid] for qid in both])).interval()
    assert (row["low"], row["high"], row["method"]) == (pytest.approx(low), pytest.approx(high), METHOD_OF_CLUSTERS)
    assert (row["low"], row["high"]) != pytest.approx(between(values))


def test_without_thoughts_to_compare_there_are_no_differences() -> None:
    alone = answers([(*NONE, f"q{q}", 1, q, "mark") for q in range(9)])
    tables = describe_thoughts(alone, "bm25", None, 10**6)
    assert tables["thoughts"].height == 1 and tables["thought_differences"].is_empty()


@pytest.mark.parametrize("budget", [150, 900])
def test_no_interval_goes_beyond_the_budget(budget: int) -> None:
    """Of 6 queries, all but one at the budget, Student's interval ends above it; differences end at the budget, too."""
    rows = [
        (*cell, f"q{q}", 1, budget if (q > 0) == (cell == BM25) else 3, "budget")
        for cell in (BM25, NONE)
        for q in range(6)
    ]
    tables = describe_thoughts(answers(rows), None, None, budget)
    own, without = tables["thoughts"].sort("k", descending=True).to_dicts()
    values = np.array([3.0, *[budget] * 5])
    low, high = between(values) or (0.0, 0.0)
    assert own["high"] == budget < high and own["low"] == pytest.approx(max(low, 0.0))
    assert without["low"] == 0.0 and without["high"] <= budget
    (row,) = tables["thought_differences"].to_dicts()
    assert row["high"] == budget < (between(2 * values - 3 - budget) or (0, 0))[1] and row["low"] >= -budget
    unknown = describe_thoughts(answers(rows), None, None, None)["thoughts"].sort("k", descending=True)
    assert unknown["high"][0] == pytest.approx(high), "without a budget nothing is cut"


def test_a_verdict_stands_if_one_more_thought_that_runs_to_the_budget_leaves_it() -> None:
    random, found = np.random.default_rng(9), set()
    for budget, factor in product((350, 2000, 4096), (0.4, 0.6, 1.7, 4.0)):
        own, other = (np.round(random.lognormal(5, 0.3, 40) * by) for by in (factor, 1.0))
        row = compared(own, other, None, budget)
        more = row["verdict"] == "more"
        most = max(budget, own.max(), other.max())
        one = own.mean() - most if more else most - other.mean()
        low, high = between(np.append(own - other, one)) or (0.0, 0.0)
        assert row["verdict"] in ("more", "fewer") and row["stands"] is bool(low > 0 if more else high < 0)
        assert compared(own, other, None, None)["stands"] is None
        one_each = compared(own, other, np.arange(40), budget)
        assert one_each["stands"] is row["stands"], "a cluster per query is no cluster"
        found.add((row["verdict"], row["stands"]))
    assert found == {("more", True), ("more", False), ("fewer", True), ("fewer", False)}
    assert compared(other, other[::-1].copy(), None, 4096)["stands"] is None
