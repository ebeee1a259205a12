"""Collections: local folders read with checks, prepared with everything left out counted."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection import open_collection
from ragrelay.collection.base import QRELS as QRELS_SCHEMA
from ragrelay.collection.base import QUERIES as QUERIES_SCHEMA
from ragrelay.collection.local import LocalCollection
from ragrelay.collection.prepare import prepare_collection, prepare_references

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


def test_a_passage_without_text_is_as_a_missing_one(
    write_dataset: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    """It is neither searched nor shown; a judged one is counted."""
    folder = write_dataset()
    path = folder / "passages.jsonl"
    whole = path.read_text()
    path.write_text(whole + '{"doc_id": "d9", "text": " \\u200b\\n"}\n{"doc_id": 10, "title": "Ten", "text": "Tea."}\n')
    with (folder / "qrels.txt").open("a") as qrels:
        qrels.write(f"{QRELS[0][0]} 0 d9 3\n")
    collection = LocalCollection(folder)
    assert [each["docno"] for each in collection.passages()] == [*PASSAGES, "10"]
    assert "left out passages without text: 1; the first is 'd9'" in caplog.text
    assert collection.texts(["d9", "10"]) == {"10": "Tea."} and collection.titles(["10"]) == {"10": "Ten"}
    _, _, left_out = prepare_collection(collection, "x")
    assert [each["count"] for each in left_out if each["what"] == "judged passages without text"] == [1]


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
    prepared, _, left_out = prepare_collection(LocalCollection(folder), "x")
    assert prepared.columns == ["qid", "query", "answers"]
    assert left_out[-1] == {"what": "queries without a gold answer", "count": len(prepared) - 1}
    (folder / "answers.jsonl").write_text('{"qid": "stranger", "answers": ["rain"]}\n')
    with pytest.raises(InputError, match="gold answers of x: found no answers for any query"):
        prepare_collection(LocalCollection(folder), "x")


def test_prepare(write_dataset: Callable[..., Path]) -> None:
    qrels = [*QRELS, ("q1", "gone", 3), ("unknown", "d1", 3), ("q4", "d1", 1)]
    queries = {**QUERIES, "q3": "never judged", "q4": "nothing relevant"}
    collection = LocalCollection(write_dataset(queries=queries, qrels=qrels))
    judged, known, left_out = prepare_collection(collection, "x")
    references, of_references = prepare_references(collection, judged, known, GRADES, "x")
    assert judged["qid"].to_list() == ["q2", "q10", "q1", "q4"]
    assert known.rows() == [row for row in qrels if row[0] != "unknown"]
    assert references.rows() == [
        ("q2", "d1", 3, PASSAGES["d1"]), ("q2", "d4", 2, PASSAGES["d4"]),
        ("q10", "d3", 3, PASSAGES["d3"]), ("q10", "d5", 2, PASSAGES["d5"]),
        ("q1", "d3", 3, PASSAGES["d3"]), ("q1", "d5", 2, PASSAGES["d5"]),
    ]  # fmt: skip
    assert references.columns == ["qid", "docno", "label", "text"]
    assert {count["what"]: count["count"] for count in [*left_out, *of_references]} == {
        "queries without judgements": 1,
        "judgements for unknown queries": 1,
        "judged passages without text": 1,
        "queries with unprintable characters (kept as they are)": 0,
        "queries with zero-width characters (kept as they are)": 0,
        "passages with unprintable characters (kept as they are)": 0,
        "passages with zero-width characters (kept as they are)": 0,
        "references without text": 1,
        "queries without a lenient reference": 1,
        "queries without a strict reference": 1,
    }


def test_prepare_counts_characters_that_nobody_sees(write_dataset: Callable[..., Path]) -> None:
    """All passages and the judged queries count; a blank of any kind is seen by the gap that it leaves."""
    texts = {"d1": "tea\x80\x99s", "d2": "so\u00adft", "d3": "line\nend\u2028\u00a0\u3000", "d4": "\u4e2d\u200b\u200d",
             "d5": "caf\u00e9", "d6": "red \u2764\ufe0f", "d7": "\x07\n"}  # fmt: skip
    texts["d7"] += "bell"
    queries = {"q1": "a\u200db", "q2": "plain", "q3": "never judged \u200b"}
    folder = write_dataset(passages=texts, queries=queries, qrels=[("q1", "d1", 3), ("q2", "d1", 3)])
    _, _, left_out = prepare_collection(LocalCollection(folder), "x")
    assert [count["count"] for count in left_out if "kept as they are" in count["what"]] == [1, 1, 4, 3]


def test_prepare_counts_passages_with_the_id_of_a_query(write_dataset: Callable[..., Path]) -> None:
    qrels = [("d1", "d4", 3), ("d5", "d3", 3), ("q1", "d1", 3)]
    queries = {"d1": "the heart", "d5": "rain", "q1": "no passage", "d2": "never judged"}
    collection = LocalCollection(write_dataset(queries=queries, qrels=qrels))
    what = "passages with the id of a query, left out of its rankings"
    assert {"what": what, "count": 2} in prepare_collection(collection, "x", drop_identical_ids=True)[2]
    assert what not in {count["what"] for count in prepare_collection(collection, "x")[2]}


def test_prepare_counts_grades_apart(write_dataset: Callable[..., Path]) -> None:
    qrels = [("q1", "d1", 2), ("q2", "d2", 3), ("q10", "d3", 3)]
    collection = LocalCollection(write_dataset(qrels=qrels))
    judged, known, _ = prepare_collection(collection, "x")
    references, left_out = prepare_references(collection, judged, known, GRADES, "x")
    counts = {count["what"]: count["count"] for count in left_out}
    assert (counts["queries without a lenient reference"], counts["queries without a strict reference"]) == (0, 1)
    assert len(references) == 3


def test_open_local_from_a_folder(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset("mine")
    collection = open_collection({"source": "local", "path": "mine", "references": {}}, folder.parent)
    assert isinstance(collection, LocalCollection) and collection.queries().height == len(QUERIES)
    assert isinstance(collection.queries(), pl.DataFrame)
