"""The demo's collection: what its study rests on, and that retrievers differ on it as they do in life."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.collection.local import LocalCollection
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.config.schema import validated
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.support.indexes import built_index
from tests.unit.conftest import DEMO, ROOT

pytestmark = pytest.mark.engine

FUNCTION_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
many more most much no not of on one or she should so some such than that the their them then there these they this
to two was we were what when where which while who why will with would you your
"""


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    collection = LocalCollection(DEMO)
    return {
        "collection": collection,
        "queries": dict(collection.queries().iter_rows()),
        "qrels": collection.qrels(),
        "passages": {passage["docno"]: passage["text"] for passage in collection.passages()},
    }


def test_size(demo: dict[str, Any]) -> None:
    assert len(demo["queries"]) >= 30
    assert len(demo["passages"]) >= 600
    assert len(set(demo["passages"].values())) == len(demo["passages"])


def test_passages_of_30_to_80_words(demo: dict[str, Any]) -> None:
    outside = {docno: n for docno, text in demo["passages"].items() if not 30 <= (n := len(text.split())) <= 80}
    assert outside == {}


def test_labels(demo: dict[str, Any]) -> None:
    assert set(demo["qrels"]["label"]) == {0, 1, 2, 3}
    assert set(demo["qrels"]["qid"]) == set(demo["queries"])
    assert set(demo["qrels"]["docno"]) <= set(demo["passages"])


def test_pools(demo: dict[str, Any]) -> None:
    of_query = (
        demo["qrels"]
        .group_by("qid")
        .agg(pool=pl.len(), relevant=(pl.col("label") >= 2).sum(), best=(pl.col("label") == 3).sum())
    )
    assert of_query["pool"].min() >= 12
    assert of_query["relevant"].min() >= 5
    assert of_query["best"].min() >= 2


def test_hard_negatives_share_a_word_with_the_query(demo: dict[str, Any]) -> None:
    """The word is one with a meaning; singular and plural are the same word."""

    def content(text: str) -> set[str]:
        return {word.rstrip("s") for word in words(text) if word not in FUNCTION_WORDS.split()}

    counts = Counter(dict.fromkeys(demo["queries"], 0))
    for qid, docno in demo["qrels"].filter(label=0).select("qid", "docno").iter_rows():
        counts[qid] += bool(content(demo["queries"][qid]) & content(demo["passages"][docno]))
    assert {qid: n for qid, n in counts.items() if n < 6} == {}


def test_no_eight_words_in_a_row_in_two_passages(demo: dict[str, Any]) -> None:
    seen: dict[tuple[str, ...], str] = {}
    shared = []
    for docno, text in demo["passages"].items():
        found = words(text)
        for place in range(len(found) - 7):
            other = seen.setdefault(tuple(found[place : place + 8]), docno)
            if other != docno:
                shared.append((other, docno, " ".join(found[place : place + 8])))
    assert shared == []


def test_every_query_has_references_at_both_grades(demo: dict[str, Any]) -> None:
    queries, qrels, of_collection = prepare_collection(demo["collection"], "demo")
    grades = {"lenient": 2, "strict": 3}
    left_out = [*of_collection, *prepare_references(demo["collection"], queries, qrels, grades, "demo")[1]]
    assert [count for count in left_out if count["count"]] == []


def test_bm25_is_decent_and_dense_is_better(demo: dict[str, Any], tmp_path: Path) -> None:
    import yaml

    config = validated(yaml.safe_load((ROOT / "config/config.yaml").read_text())).mapping()
    ndcg = {}
    for name in ("bm25", "dense"):
        definition, collection = RETRIEVER_KINDS.completed(config["retrievers"][name]), demo["collection"]
        index = built_index(collection, definition, tmp_path)
        run = build_run(collection, collection.queries(), demo["qrels"], definition, index=index, threads=2)
        values = measure_ranking(run, demo["qrels"], ["nDCG"], [5])["value"]
        assert len(values) == len(demo["queries"])
        ndcg[name] = values.mean()
    assert 0.45 <= ndcg["bm25"] <= 0.75, ndcg
    assert ndcg["dense"] > ndcg["bm25"] + 0.02, ndcg
