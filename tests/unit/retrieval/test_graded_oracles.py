"""Oracles of a dose and of a place: what stands in the context at every k, and who gets none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.vocabulary.orderings import ordered
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.contexts import build_contexts, count_left_out
from ragrelay.retrieval.trec import ranked

from tests.unit.retrieval.test_oracle import LABELS, QRELS, QUERIES, TEXTS, oracle_run

GRADED = {"kind": "graded", "min_label": 2, "max_label": 0, "seed": 0}
POSITION = {"kind": "position", "min_label": 2, "max_label": 0, "seed": 0}
KS = (1, 2, 5, 10)


def rankings(definition: dict[str, Any], qrels: pl.DataFrame = QRELS) -> dict[str, list[str]]:
    found = ranked(oracle_run(qrels, definition, TEXTS), QUERIES).group_by("qid", maintain_order=True).agg("docno")
    return {str(qid): docnos for qid, docnos in found.iter_rows()}


def relevant(qid: str, docnos: list[str]) -> list[bool]:
    labels = [LABELS[qid, docno] for docno in docnos]
    assert 1 not in labels, "neither relevant nor non-relevant"
    return [label >= 2 for label in labels]


@pytest.mark.parametrize("dose", [0, 1, 3, 12])
def test_dose(dose: int) -> None:
    for qid, docnos in rankings({**GRADED, "relevant": dose}).items():
        for k in KS:
            assert sum(relevant(qid, docnos[:k])) == min(dose, k)
        assert len(docnos) == dose + 6, "all judged non-relevant passages follow"


def test_doses_nest_and_are_the_oracles_own() -> None:
    """The passages of a smaller dose are in every larger one, and both are the sample that rel and nrel take."""
    three, four = (rankings({**GRADED, "relevant": dose}) for dose in (3, 4))
    rel = rankings({"kind": "oracle", "min_label": 2, "seed": 0})
    nrel = rankings({"kind": "oracle", "max_label": 0, "seed": 0})
    for qid in rel:
        assert three[qid] == rel[qid][:3] + nrel[qid] and four[qid] == rel[qid][:4] + nrel[qid]
    assert rankings({**GRADED, "relevant": 0}) == nrel


@pytest.mark.parametrize("place", [1, 3, 7])
def test_place_in_the_prompt(place: int) -> None:
    for qid, docnos in rankings({**POSITION, "place": place}).items():
        for k in range(place, 8):
            where = relevant(qid, ordered(docnos[:k], "descending", key=qid))
            assert where == [n + 1 == place for n in range(k)]
            assert relevant(qid, ordered(docnos[:k], "ascending", key=qid)) == where[::-1]


def test_places_show_the_same_passages() -> None:
    first, third, fifth = (rankings({**POSITION, "place": place}) for place in (1, 3, 5))
    for qid in first:
        for k in (5, 6, 7):
            assert set(first[qid][:k]) == set(third[qid][:k]) == set(fifth[qid][:k])
        assert first[qid][0] == third[qid][2] == fifth[qid][4]


def test_other_seeds_take_others() -> None:
    for definition in ({**GRADED, "relevant": 2}, {**POSITION, "place": 2}):
        assert rankings(definition) == rankings(definition) != rankings({**definition, "seed": 1})


def test_queries_that_cannot_be_served() -> None:
    of_q1 = pl.col("qid") == "q1"
    few_relevant = QRELS.filter(~of_q1 | (pl.col("label") < 2) | (pl.col("docno") == "d02"))
    assert "q1" not in rankings({**GRADED, "relevant": 2}, few_relevant)
    assert "q1" in rankings({**GRADED, "relevant": 1}, few_relevant)
    no_relevant = few_relevant.filter(~of_q1 | (pl.col("label") < 2))
    assert "q1" not in rankings({**POSITION, "place": 1}, no_relevant)
    one_other = QRELS.filter(~of_q1 | (pl.col("label") > 0) | (pl.col("docno") == "d04"))
    assert "q1" in rankings({**POSITION, "place": 2}, one_other)
    assert "q1" not in rankings({**POSITION, "place": 3}, one_other)


def test_they_are_counted(write_dataset: Callable[..., Path]) -> None:
    collection = LocalCollection(write_dataset())
    queries, qrels = collection.queries(), collection.qrels()
    qrels = qrels.filter((pl.col("qid") != "q1") | (pl.col("label") != 3))
    texts = collection.texts(qrels["docno"].to_list())
    run = ranked(oracle_run(qrels, {**GRADED, "relevant": 2}, texts), queries)
    contexts, skipped = build_contexts(run, qrels, collection, 50, "x")
    assert set(contexts["qid"]) == {"q2", "q10"}
    counts = {count["what"]: count["count"] for count in count_left_out(contexts, skipped, queries, [2, 5])}
    assert counts["queries without results"] == 1 and counts["queries with fewer than 5 passages"] == 2
