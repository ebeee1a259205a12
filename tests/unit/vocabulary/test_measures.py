"""Retrieval measures: ir_measures run directly, nDCG by hand, and the ranking's order as what counts."""

import math
import random

import ir_measures
import polars as pl
import pytest
from ragrelay.vocabulary.columns import schema_of
from ragrelay.vocabulary.measures import COLUMNS, measure_ranking

QRELS_SCHEMA = {"qid": pl.String, "docno": pl.String, "label": pl.Int64}


def study(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A random ranking of 12 queries with 30 passages each and judgements of some of them."""
    chance = random.Random(seed)
    ranking, qrels = [], []
    for q in range(12):
        docnos = [f"d{i}" for i in range(40)]
        chance.shuffle(docnos)
        ranking += [(f"q{q}", docno, place) for place, docno in enumerate(docnos[:30], start=1)]
        qrels += [(f"q{q}", docno, chance.choice([0, 0, 1, 2, 3])) for docno in chance.sample(docnos, 20)]
    return (
        pl.DataFrame(ranking, schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64}, orient="row"),
        pl.DataFrame(qrels, schema=QRELS_SCHEMA, orient="row"),
    )


def by_hand(docnos: list[str], labels: dict[str, int], k: int) -> float:
    """nDCG@k with linear gain (trec_eval's), unjudged passages counting as 0."""

    def dcg(gains: list[int]) -> float:
        return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:k], start=1))

    ideal = dcg(sorted(labels.values(), reverse=True))
    return dcg([labels.get(docno, 0) for docno in docnos]) / ideal if ideal else 0.0


def test_equals_ir_measures() -> None:
    ranking, qrels = study(1)
    names, ks = ["nDCG", "P(rel=2)", "AP(rel=2)", "RR(rel=2)"], [1, 2, 5, 10]
    found = measure_ranking(ranking, qrels, names, ks)
    assert dict(found.schema) == schema_of(COLUMNS)
    wanted = {ir_measures.parse_measure(f"{name}@{k}"): (name, k) for name in names for k in ks}
    as_run = [ir_measures.ScoredDoc(qid, docno, 1.0 / rank) for qid, docno, rank in ranking.iter_rows()]
    as_qrels = [ir_measures.Qrel(*row) for row in qrels.iter_rows()]
    expected = {
        (m.query_id, *wanted[m.measure]): m.value for m in ir_measures.iter_calc(list(wanted), as_qrels, as_run)
    }
    assert {tuple(row[:3]): row[3] for row in found.iter_rows()} == expected
    assert len(found) == 12 * 4 * 4


def test_ndcg_by_hand() -> None:
    ranking, qrels = study(2)
    for qid, name, k, value in measure_ranking(ranking, qrels, ["nDCG"], [1, 3, 5, 20]).iter_rows():
        labels = dict(qrels.filter(qid=qid).select("docno", "label").iter_rows())
        assert name == "nDCG"
        assert value == pytest.approx(by_hand(ranking.filter(qid=qid)["docno"].to_list(), labels, k), abs=1e-9)


def test_unjudged_counts_as_not_relevant() -> None:
    ranking = pl.DataFrame({"qid": ["q", "q"], "docno": ["unjudged", "best"], "rank": [1, 2]})
    qrels = pl.DataFrame([("q", "best", 3)], schema=QRELS_SCHEMA, orient="row")
    values = measure_ranking(ranking, qrels, ["nDCG"], [1, 2])["value"].to_list()
    assert values == pytest.approx([0.0, 1 / math.log2(3)])


def test_order_of_the_ranking_counts() -> None:
    """Not docnos, which would break the ties of equal scores: this ranking is in neither order of them."""
    qrels = pl.DataFrame([("q", "b", 3), ("q", "c", 1)], schema=QRELS_SCHEMA, orient="row")
    values = {}
    for docnos in (["b", "c", "a"], ["a", "b", "c"], ["c", "a", "b"]):
        ranking = pl.DataFrame({"qid": ["q"] * 3, "docno": docnos, "rank": [1, 2, 3]})
        values["".join(docnos)] = measure_ranking(ranking, qrels, ["nDCG"], [3])["value"].item()
        assert values["".join(docnos)] == pytest.approx(by_hand(docnos, {"b": 3, "c": 1}, 3))
    assert values["bca"] > values["cab"] and values["bca"] > values["abc"]


def test_rows_by_measure_then_k_then_query() -> None:
    ranking, qrels = study(3)
    found = measure_ranking(ranking, qrels, ["P(rel=1)", "nDCG"], [5, 2])
    qids = [f"q{i}" for i in range(12)]
    expected = [(qid, name, k) for name in ("P(rel=1)", "nDCG") for k in (5, 2) for qid in qids]
    assert found.select("qid", "measure", "k").rows() == expected


def test_two_names_of_one_measure_both_have_values() -> None:
    ranking, qrels = study(4)
    found = measure_ranking(ranking, qrels, ["AP", "MAP"], [5])
    assert found.group_by("measure", maintain_order=True).len().rows() == [("AP", 12), ("MAP", 12)]
    assert found.filter(measure="AP")["value"].to_list() == found.filter(measure="MAP")["value"].to_list()


def test_query_without_results_has_no_row() -> None:
    ranking, qrels = study(5)
    found = measure_ranking(ranking.filter(pl.col("qid") != "q3"), qrels, ["nDCG"], [5])
    assert "q3" not in found["qid"].to_list() and len(found) == 11


def test_a_judged_query_without_results_has_0_where_it_counts() -> None:
    ranking, qrels = study(5)
    fewer = ranking.filter(pl.col("qid") != "q3")
    found = measure_ranking(fewer, qrels, ["nDCG", "P"], [5, 2], qids=["q1", "q3", "never judged"])
    assert found.filter(qid="q3").select("measure", "k", "value").rows() == [
        (name, k, 0.0) for name in ("nDCG", "P") for k in (5, 2)
    ]
    without = measure_ranking(fewer, qrels, ["nDCG", "P"], [5, 2])
    assert found.filter(pl.col("qid") != "q3").equals(without)


def test_binary_measures_take_the_lowest_reference_grade_unless_they_say_another() -> None:
    ranking, qrels = study(1)
    found = measure_ranking(ranking, qrels, ["P", "P(rel=3)", "AP", "nDCG"], [5], relevant=2)
    said = measure_ranking(ranking, qrels, ["P(rel=2)", "P(rel=3)", "AP(rel=2)", "nDCG"], [5])
    assert found["value"].to_list() == said["value"].to_list()
    assert found["measure"].unique(maintain_order=True).to_list() == ["P", "P(rel=3)", "AP", "nDCG"]
    assert (
        measure_ranking(ranking, qrels, ["P"], [5])["value"].to_list() != found.filter(measure="P")["value"].to_list()
    )
