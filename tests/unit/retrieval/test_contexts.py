"""Context candidates: passages without text skipped, the next taken, everything left out counted."""

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection
from ragrelay.retrieval.contexts import build_contexts, context_warnings, count_left_out


class FakeCollection(Collection):
    """A collection of texts alone."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        return {docno: self._texts[docno] for docno in docnos if docno in self._texts}

    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        raise NotImplementedError

    def queries(self) -> pl.DataFrame:
        raise NotImplementedError

    def qrels(self) -> pl.DataFrame:
        raise NotImplementedError

    def passages(self) -> Iterator[dict[str, str]]:
        raise NotImplementedError

    def corpus_identity(self) -> str:
        raise NotImplementedError

    def corpus_size(self) -> int:
        return len(self._texts)


QRELS = pl.DataFrame(
    [("q1", "a", 3), ("q1", "c", 0), ("q2", "a", 1)],
    schema={"qid": pl.String, "docno": pl.String, "label": pl.Int64},
    orient="row",
)


def run_of(**rankings: list[str]) -> pl.DataFrame:
    rows = [(q, d, i, 100.0 - i) for q, docnos in rankings.items() for i, d in enumerate(docnos, start=1)]
    schema = {"qid": pl.String, "docno": pl.String, "rank": pl.Int64, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def build(
    run: pl.DataFrame, texts: Iterable[str], depth: int, ks: list[int], queries: int = 2
) -> tuple[Any, dict[str, int]]:
    asked = pl.DataFrame({"qid": [f"q{i}" for i in range(1, queries + 1)]})
    collection = FakeCollection({docno: f"text of {docno}" for docno in texts})
    contexts, skipped = build_contexts(run, QRELS, collection, depth, "run of x")
    return contexts, {one["what"]: one["count"] for one in count_left_out(contexts, skipped, asked, ks)}


def test_skips_what_has_no_text_and_takes_the_next() -> None:
    contexts, counts = build(run_of(q1=["a", "b", "c", "d"], q2=["d", "a"]), "acd", depth=2, ks=[1, 2])
    assert contexts.rows() == [
        ("q1", 1, "a", 99.0, 3, "text of a"),
        ("q1", 2, "c", 97.0, 0, "text of c"),
        ("q2", 1, "d", 99.0, None, "text of d"),
        ("q2", 2, "a", 98.0, 1, "text of a"),
    ]
    assert contexts.columns == ["qid", "rank", "docno", "score", "label", "text"]
    assert counts == {
        "queries without results": 0,
        "retrieved passages without text in the top 2": 1,
        "unjudged passages in the top 2 (kept; they count as not relevant)": 1,
        "queries with fewer than 1 passage": 0,
        "queries with fewer than 2 passages": 0,
    }


def test_counts() -> None:
    contexts, counts = build(run_of(q1=["x", "a", "y", "c", "z"], q2=["w", "d"]), "acd", 10, [1, 2, 3], queries=4)
    assert contexts.group_by("qid", maintain_order=True).agg("docno").rows() == [("q1", ["a", "c"]), ("q2", ["d"])]
    # q1 lacks three passages before its third place, q2 one; q3 and q4 have nothing at all.
    assert counts == {
        "queries without results": 2,
        "retrieved passages without text in the top 3": 4,
        "unjudged passages in the top 3 (kept; they count as not relevant)": 1,
        "queries with fewer than 1 passage": 0,
        "queries with fewer than 2 passages": 1,
        "queries with fewer than 3 passages": 2,
    }


def test_skipped_below_the_context_does_not_count() -> None:
    _, counts = build(run_of(q1=["a", "c", "x", "y"]), "ac", depth=5, ks=[2], queries=1)
    assert counts["retrieved passages without text in the top 2"] == 0


def test_as_deep_as_asked_and_no_deeper() -> None:
    ranking = [f"d{i}" for i in range(7)] + ["x", "d7"]
    collection = FakeCollection({f"d{i}": "text" for i in range(8)})
    contexts, skipped = build_contexts(run_of(q1=["y", *ranking]), QRELS, collection, 7, "run of x")
    assert contexts["rank"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert skipped.rows() == [("q1", "y", 0)], "what is below the last passage taken is not looked at"


def test_many_without_text_in_a_row() -> None:
    """Half of a collection's texts may be missing: a passage far down must still be found."""
    ranking = [f"x{i}" for i in range(200)] + ["a", "y", "c"]
    contexts, counts = build(run_of(q1=ranking, q2=["d", "a"]), "acd", depth=2, ks=[2])
    assert contexts.group_by("qid", maintain_order=True).agg("docno").rows() == [("q1", ["a", "c"]), ("q2", ["d", "a"])]
    assert counts["retrieved passages without text in the top 2"] == 201
    assert counts["queries with fewer than 2 passages"] == 0


def test_error_where_nothing_is_left() -> None:
    with pytest.raises(InputError, match="run of x: found no retrieved passage with text"):
        build(run_of(q1=["x", "y"]), "", depth=5, ks=[1])


def test_queries_with_their_own_passage_in_the_context_are_warned_of() -> None:
    texts = dict.fromkeys(("q1", "q2", "a", "b"), "text")
    run = run_of(q1=["q1", "a", "q2"], q2=["a", "b", "q2"])
    contexts, skipped = build_contexts(run, QRELS, FakeCollection(texts), 3, "x")
    queries = pl.DataFrame({"qid": ["q1", "q2"]})
    for ks, count in (([1, 2], 1), ([3], 2)):
        [warned] = [row for row in count_left_out(contexts, skipped, queries, ks, True) if "warning" in row]
        assert warned["what"] == f"queries with the passage of their own id in the top {max(ks)}"
        assert warned["count"] == count and "drop_identical_ids" in warned["warning"]
    said = count_left_out(contexts, skipped, queries, [3])
    assert not any("own id" in row["what"] for row in said), "a study that says what it wants is not warned"
    without = contexts.filter(pl.col("qid") != pl.col("docno"))
    assert count_left_out(without, skipped, queries, [3], True) == count_left_out(without, skipped, queries, [3])


def warned(run: pl.DataFrame, queries: int, k: int, empty: str | None = "zero") -> list[str]:
    """The sentences about ``run``; only the passages a and c have a text."""
    asked = pl.DataFrame({"qid": [f"q{i}" for i in range(1, queries + 1)]})
    contexts, skipped = build_contexts(run, QRELS, FakeCollection({"a": "text", "c": "text"}), 10, "run of x")
    added = context_warnings(contexts, skipped, asked, [1, k], "s/contexts/x", empty)
    assert set(added) <= {count["what"] for count in count_left_out(contexts, skipped, asked, [1, k])}
    return [row["sentence"] for row in added.values()]


@pytest.mark.parametrize("empty", ["zero", None])
@pytest.mark.parametrize(("first", "many"), [(["z", "a"], False), (["z", "y", "a"], True)])
def test_more_than_a_twentieth_of_the_passages_without_text(first: list[str], many: bool, empty: str | None) -> None:
    """1 of 20 is no reason to warn, 2 of 21 are; passages below the context don't count."""
    run = run_of(q1=first, **{f"q{i}": ["a", "c", "x", "y"] for i in range(2, 20)})
    sentence = (
        "the collection has no text for 2 of the 21 passages that rank highest, such as z "
        "(s/contexts/x.skipped.parquet); passages from lower ranks took their place"
    )
    assert warned(run, 19, 1, empty) == ([sentence] if many else [])


@pytest.mark.parametrize(
    ("empty", "counted"),
    [
        ("zero", "their answers without passages count instead, so P = P0 there"),
        ("left_out", "the retriever's results leave them out"),
        (None, None),
    ],
)
def test_more_than_a_twentieth_of_the_queries_without_results(empty: str | None, counted: str | None) -> None:
    """A retriever that may leave queries out has no warning."""
    run = run_of(**{f"q{i}": ["a", "c"] for i in range(1, 20)})
    assert warned(run, 20, 2, empty) == []
    sentence = f"2 of 21 queries have no results, such as q20 (s/contexts/x.parquet); {counted}"
    assert warned(run, 21, 2, empty) == ([sentence] if counted else [])


def test_more_than_a_twentieth_of_the_queries_with_fewer_passages() -> None:
    run = {f"q{i}": ["a", "c"] for i in range(1, 21)}
    assert warned(run_of(**run | {"q1": ["a"]}), 20, 2) == []
    sentence = "2 of 20 queries have fewer than 2 passages (s/contexts/x.parquet), so their contexts are shorter"
    assert warned(run_of(**run | {"q1": ["a"], "q2": ["c"]}), 20, 2) == [sentence]
    assert warned(run_of(**run | {"q1": ["a"], "q2": ["c"]}), 20, 2, None) == []


def test_queries_without_results_have_fewer_passages_too() -> None:
    run = {f"q{i}": ["a", "c"] for i in range(1, 36)}
    assert warned(run_of(**run | {"q1": ["a"], "q2": ["c"]}), 36, 2) == [
        "1 of 36 queries have no results, such as q36 (s/contexts/x.parquet); their answers without passages count "
        "instead, so P = P0 there",
        "3 of 36 queries have fewer than 2 passages, 1 of them none (s/contexts/x.parquet), so their contexts are "
        "shorter",
    ]  # fmt: skip


@pytest.mark.parametrize("flaws", [{"text", "none"}, {"text", "fewer"}, {"none", "fewer"}, {"text"}, {"none"}])
def test_the_shares_of_all_kinds_count_together(flaws: set[str]) -> None:
    """Of 38 queries, one with each flaw: 2.6% alone, above 5% together."""
    run = {f"q{i}": ["a", "c"] for i in range(1, 39)}
    run |= {"q1": ["z", "y", "a", "c"]} if "text" in flaws else {}
    run |= {"q2": ["a"]} if "fewer" in flaws else {}
    run = {qid: docnos for qid, docnos in run.items() if qid != "q3" or "none" not in flaws}
    said = [
        kind
        for text in warned(run_of(**run), 38, 2)
        for kind, words in {"text": "no text for 2 of", "none": "no results", "fewer": "have fewer than"}.items()
        if words in text
    ]
    assert said == (sorted(flaws, reverse=True) if len(flaws) > 1 else [])
