"""Collections: local folders and ir_datasets' catalogue read alike, prepared with everything left out counted."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from ragrelay.collection import open_collection
from ragrelay.collection.base import QRELS as QRELS_SCHEMA
from ragrelay.collection.base import QUERIES as QUERIES_SCHEMA
from ragrelay.collection.catalogued import IrDatasetsCollection, corpus_id, corpus_name, is_catalogued
from ragrelay.collection.local import LocalCollection
from ragrelay.collection.prepare import prepare
from ragrelay.errors import InputError

from tests.unit.conftest import PASSAGES, QRELS, QUERIES

GRADES = {"lenient": 2, "strict": 3}


def test_local(write_dataset: Callable[..., Path]) -> None:
    collection = LocalCollection(write_dataset())
    assert collection.queries().rows() == list(QUERIES.items())
    assert collection.qrels().rows() == QRELS
    assert list(collection.passages()) == [{"docno": docno, "text": text} for docno, text in PASSAGES.items()]
    assert collection.texts(["d3", "absent", "d1"]) == {"d3": PASSAGES["d3"], "d1": PASSAGES["d1"]}
    assert dict(collection.queries().schema) == QUERIES_SCHEMA and dict(collection.qrels().schema) == QRELS_SCHEMA


def test_byte_order_mark_windows_line_ends_and_blank_lines(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset()
    expected = LocalCollection(folder)
    tables = expected.queries(), expected.qrels(), list(expected.passages())
    for name in ("queries.tsv", "qrels.txt", "passages.jsonl"):
        content = (folder / name).read_bytes().replace(b"\n", b"\r\n\r\n")
        (folder / name).write_bytes(b"\xef\xbb\xbf" + content)
    found = LocalCollection(folder)
    assert found.queries().equals(tables[0]) and found.qrels().equals(tables[1])
    assert list(found.passages()) == tables[2]


def test_gzipped_passages(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset()
    identity = LocalCollection(folder).corpus_identity()
    (folder / "passages.jsonl.gz").write_bytes(gzip.compress((folder / "passages.jsonl").read_bytes()))
    (folder / "passages.jsonl").unlink()
    collection = LocalCollection(folder)
    assert len(list(collection.passages())) == len(PASSAGES)
    assert collection.corpus_identity() == identity
    assert [path.name for path in collection.files()] == ["passages.jsonl.gz", "queries.tsv", "qrels.txt"]


def test_texts_are_kept_to_the_letter(write_dataset: Callable[..., Path]) -> None:
    text = ' é "quoted" \\ {braces}\ttab\u2028line \U0001f375 '
    collection = LocalCollection(write_dataset(passages={"d1": text}))
    assert collection.texts(["d1"]) == {"d1": text}


def test_corpus_identity_is_the_passages(write_dataset: Callable[..., Path]) -> None:
    same = LocalCollection(write_dataset("a")).corpus_identity()
    turned = dict(reversed(PASSAGES.items()))
    assert LocalCollection(write_dataset("b", passages=turned, queries={"x": "y"})).corpus_identity() == same
    assert LocalCollection(write_dataset("c", passages={**PASSAGES, "d1": "other"})).corpus_identity() != same
    assert LocalCollection(write_dataset("d", passages={**PASSAGES, "d9": "more"})).corpus_identity() != same


def test_gold_answers(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset()
    (folder / "answers.jsonl").write_text(
        '{"qid": "q1", "answers": ["cold air", "mountains"]}\n{"qid": "q2", "answers": []}\n'
    )
    queries = LocalCollection(folder).queries()
    assert queries["answers"].to_list() == [[], None, ["cold air", "mountains"]]
    assert prepare(LocalCollection(folder), GRADES, "x")[0].columns == ["qid", "query", "answers"]


def test_prepare(write_dataset: Callable[..., Path]) -> None:
    qrels = [*QRELS, ("q1", "gone", 3), ("unknown", "d1", 3), ("q4", "d1", 1)]
    queries = {**QUERIES, "q3": "never judged", "q4": "nothing relevant"}
    judged, known, references, left_out = prepare(
        LocalCollection(write_dataset(queries=queries, qrels=qrels)), GRADES, "x"
    )
    assert judged["qid"].to_list() == ["q2", "q10", "q1", "q4"]
    assert known.rows() == [row for row in qrels if row[0] != "unknown"]
    assert references.rows() == [
        ("q2", "d1", 3, PASSAGES["d1"]), ("q2", "d4", 2, PASSAGES["d4"]),
        ("q10", "d3", 3, PASSAGES["d3"]), ("q10", "d5", 2, PASSAGES["d5"]),
        ("q1", "d3", 3, PASSAGES["d3"]), ("q1", "d5", 2, PASSAGES["d5"]),
    ]  # fmt: skip
    assert references.columns == ["qid", "docno", "label", "text"]
    assert {count["what"]: count["count"] for count in left_out} == {
        "queries without judgements": 1,
        "judgements for unknown queries": 1,
        "judged passages without text": 1,
        "references without text": 1,
        "queries without a lenient reference": 1,
        "queries without a strict reference": 1,
    }


def test_prepare_counts_grades_apart(write_dataset: Callable[..., Path]) -> None:
    qrels = [("q1", "d1", 2), ("q2", "d2", 3), ("q10", "d3", 3)]
    *_, references, left_out = prepare(LocalCollection(write_dataset(qrels=qrels)), GRADES, "x")
    counts = {count["what"]: count["count"] for count in left_out}
    assert (counts["queries without a lenient reference"], counts["queries without a strict reference"]) == (0, 1)
    assert len(references) == 3


class FakeDoc(NamedTuple):
    """A document with a title, as many catalogued corpora have them."""

    doc_id: str
    title: str
    body: str

    def default_text(self) -> str:
        return f"{self.title} {self.body}".strip()


@pytest.fixture
def catalogued() -> Iterator[str]:
    """The id of a tiny dataset in ir_datasets' own registry, and a sibling query set over the same corpus."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQuery, TrecQrel

    docs = [FakeDoc("d1", "Tea", "is a leaf"), FakeDoc("d2", "", ""), FakeDoc("d3", "", "rain falls")]

    class Store:
        def get_many(self, docnos: list[str]) -> dict[str, FakeDoc]:
            return {doc.doc_id: doc for doc in docs if doc.doc_id in docnos}

    class Docs(BaseDocs):
        def docs_iter(self) -> Iterator[FakeDoc]:
            return iter(docs)

        def docs_cls(self) -> type:
            return FakeDoc

        def docs_store(self, *_: Any, **__: Any) -> Store:
            return Store()

    class Queries(BaseQueries):
        def queries_iter(self) -> Iterator[Any]:
            yield GenericQuery("7", " what is tea ")
            yield GenericQuery("3", "why rain")

        def queries_cls(self) -> type:
            return GenericQuery

    class Qrels(BaseQrels):
        def qrels_iter(self) -> Iterator[Any]:
            yield from (TrecQrel("7", "d1", 1, "0"), TrecQrel("3", "d3", 2, "0"), TrecQrel("7", "d1", 3, "0"))

        def qrels_cls(self) -> type:
            return TrecQrel

    shared = Docs()
    names = {
        "ragrelay-test": Dataset(shared),
        "ragrelay-test/one": Dataset(shared, Queries(), Qrels()),
        "ragrelay-test/two": Dataset(shared, Queries()),
    }
    for name, dataset in names.items():
        ir_datasets.registry.register(name, dataset)
    yield "ragrelay-test/one"
    for name in names:
        del ir_datasets.registry._registered[name]


def test_catalogued(catalogued: str) -> None:
    collection = open_collection({"source": "ir_datasets", "id": catalogued})
    assert isinstance(collection, IrDatasetsCollection)
    assert collection.queries().rows() == [("7", "what is tea"), ("3", "why rain")]
    assert sorted(collection.qrels().rows()) == [("3", "d3", 2), ("7", "d1", 3)], "the last judgement of a pair counts"
    assert [passage["docno"] for passage in collection.passages()] == ["d1", "d2", "d3"]
    assert collection.texts(["d1", "d2", "d9"]) == {"d1": "Tea is a leaf"}
    assert dict(collection.queries().schema) == QUERIES_SCHEMA and dict(collection.qrels().schema) == QRELS_SCHEMA


def test_catalogued_prepared_like_any_other(catalogued: str) -> None:
    _, _, references, _ = prepare(IrDatasetsCollection(catalogued), GRADES, "x")
    assert references.rows() == [("7", "d1", 3, "Tea is a leaf"), ("3", "d3", 2, "rain falls")]


def test_catalogued_query_sets_share_their_corpus(catalogued: str) -> None:
    assert corpus_id(catalogued) == corpus_id("ragrelay-test/two") == "ragrelay-test"
    assert IrDatasetsCollection(catalogued).corpus_identity() == "ir_datasets:ragrelay-test"
    assert corpus_name("mine", {"source": "ir_datasets", "id": catalogued}) == "ragrelay-test"
    assert corpus_name("mine", {"source": "local", "path": "x"}) == "mine"


def test_catalogued_errors(catalogued: str) -> None:
    with pytest.raises(InputError, match="no dataset 'ragrelay-test/three'"):
        IrDatasetsCollection("ragrelay-test/three")
    with pytest.raises(InputError, match="ragrelay-test/two: found no qrels"):
        IrDatasetsCollection("ragrelay-test/two")
    assert is_catalogued(catalogued) and not is_catalogued("ragrelay-test/three")


def test_open_local_from_a_folder(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset("mine")
    collection = open_collection({"source": "local", "path": "mine"}, folder.parent)
    assert isinstance(collection, LocalCollection) and collection.queries().height == len(QUERIES)
    assert isinstance(collection.queries(), pl.DataFrame)
