"""Judgements of subtopics, in every form, and the rows per pair that all other code sees."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_datasets
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare_collection
from ragrelay.collection.subtopics import prepare_subtopics
from ragrelay.collection.subtopics.judgements import judged_collection, read_subtopics, subtopic_field
from ragrelay.collection.subtopics.nuggetizer import read_nuggetizer

from tests.support.subtopic_collection import PASSAGES, QRELS, QUERIES, write_subtopics
from tests.unit.conftest import study_of

PLACE = "subtopics of dataset tea"
ROWS = [(qid, docno, subtopic, label) for qid, subtopic, docno, label in QRELS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_subtopics(tmp_path / "tea")


def definition(folder: Path) -> dict[str, object]:
    return {"source": "local", "path": str(folder), "references": {}}


def prepared(subtopics: bool | str, folder: Path, collapsed: pl.DataFrame) -> list[tuple[str, str, str, int]]:
    queries = pl.DataFrame({"qid": list(QUERIES)})
    return prepare_subtopics(subtopics, definition(folder), queries, collapsed, PLACE).rows()


def test_a_pair_has_its_highest_label(folder: Path) -> None:
    """What everything but measures of subtopics reads has one row per pair."""
    collection = judged_collection(definition(folder))
    queries, qrels, left_out = prepare_collection(collection, "tea")
    assert queries["qid"].to_list() == list(QUERIES)
    assert qrels.rows() == [("q1", "d1", 2), ("q1", "d2", 1), ("q1", "d3", 0), ("q2", "d4", 1), ("q2", "d5", -2)]
    assert {row["what"]: row["count"] for row in left_out}["judgements for unknown queries"] == 1
    assert prepared(True, folder, qrels) == [row for row in ROWS if row[0] in QUERIES]


def test_without_the_key_a_pair_is_judged_once(folder: Path) -> None:
    with pytest.raises(InputError, match=r"qrels.txt, line 2: found duplicate judgement for qid 'q1' and docno 'd1' "):
        open_collection(definition(folder)).qrels()


def test_a_header_of_queries_is_found_where_pairs_repeat(folder: Path) -> None:
    lines = (folder / "queries.tsv").read_text()
    (folder / "queries.tsv").write_text(f"qid\ttext\n{lines}")
    with pytest.raises(InputError, match="an apparent header"):
        judged_collection(definition(folder)).queries()


def test_unique_pairs_are_as_without_the_key(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset()
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    (folder / "qrels.txt").write_text("".join(f"{q} {n} {d} {label}\n" for n, (q, _, d, label) in enumerate(lines)))
    assert judged_collection(definition(folder)).qrels().equals(open_collection(definition(folder)).qrels())


def test_hops(folder: Path) -> None:
    qrels = judged_collection(definition(folder)).qrels()
    expected = [(qid, docno, docno, label) for qid, docno, label in qrels.rows() if qid in QUERIES]
    assert prepared("hops", folder, qrels) == expected


def test_a_separate_file_as_of_coveragebench(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "rag.qrels"
    path.write_text("q1 3 d9 1\nq1 1 d1 0\nother 1 d1 1\n")
    assert prepared(str(path), folder, pl.DataFrame()) == [("q1", "d9", "3", 1), ("q1", "d1", "1", 0)]


def nuggets(**assignments: str) -> list[dict[str, str]]:
    return [{"text": text, "importance": "vital", "assignment": to} for text, to in assignments.items()]


def test_nuggetizer(folder: Path, tmp_path: Path) -> None:
    """Keys as its command for retrieval results writes them."""
    path = tmp_path / "assigned.jsonl"
    given = {"d1": nuggets(leaf="support", rain="partial_support"), "d2": nuggets(leaf="not_support", rain="failed")}
    lines = [
        json.dumps({"text": "what is tea", "qid": "q1", "candidate_text": "…", "docid": docno, "nuggets": of_passage})
        for docno, of_passage in given.items()
    ]
    path.write_text("\n".join(lines))
    expected = [("q1", "d1", "leaf", 2), ("q1", "d1", "rain", 1), ("q1", "d2", "leaf", 0), ("q1", "d2", "rain", 0)]
    assert prepared(str(path), folder, pl.DataFrame()) == expected


BAD_NUGGETS = {
    '{"qid": "q1", "docid": "d1"}': "line 1: found",
    '{"qid": "q1", "docid": "d1", "nuggets": [{"assignment": "support"}]}': "line 1: found a nugget without text",
    '{"qid": "q1", "docid": "d1", "nuggets": [{"text": "a", "assignment": "yes"}]}': "found assignment 'yes'",
    '{"qid": 1, "docid": "d1", "nuggets": []}': "found no nugget",
    '{"qid": 1, "docid": "d1", "nuggets": []}\n{"qid": "1", "docid": "d1", "nuggets": []}': r"found duplicate",
}


@pytest.mark.parametrize(("text", "found"), BAD_NUGGETS.items())
def test_bad_nuggets(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "assigned.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=found):
        read_nuggetizer(path)


BAD_LINES = {
    "q1 0 d1 1\nq2 0 d1 1\n": "found only subtopic '0'; expected subtopics in the second column",
    "q1 a d1 1\nq1 b d1 1\nq1 a d1 2\n": r"docno 'd1' and subtopic 'a' \(first on line 1\)",
    "q1 a d1 high\n": "line 1: found label 'high'",
    "q1 d1 1\n": "line 1: found 3 columns; expected 4: qid, subtopic, docno, label",
    "\n": "found no judgement",
}


@pytest.mark.parametrize(("text", "found"), BAD_LINES.items())
def test_bad_lines(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=found):
        read_subtopics(path)


def test_judgements_of_no_query(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other.qrels").write_text("x 1 d1 1\nx 2 d1 1\n")
    with pytest.raises(InputError, match=f"{PLACE}: found no judgements for any query"):
        prepared(str(tmp_path / "other.qrels"), folder, pl.DataFrame())


def test_catalogued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection of ir_datasets whose qrels have the type TrecSubQrel, as TREC's diversity tasks."""
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecSubQrels, TsvDocs, TsvQueries
    from ir_datasets.util import LocalDownload

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    files = {
        "docs": "".join(f"{docno}\t{text}\n" for docno, text in PASSAGES.items()),
        "queries": "".join(f"{qid}\t{text}\n" for qid, text in QUERIES.items()),
        "qrels": "".join(f"{qid} {subtopic} {docno} {label}\n" for qid, subtopic, docno, label in QRELS),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    docs, queries = TsvDocs(LocalDownload(tmp_path / "docs")), TsvQueries(LocalDownload(tmp_path / "queries"))
    dataset = Dataset(docs, queries, TrecSubQrels(LocalDownload(tmp_path / "qrels"), {}))
    monkeypatch.setitem(ir_datasets.registry._registered, "tea/diversity", dataset)
    collection = judged_collection({"source": "ir_datasets", "id": "tea/diversity", "references": {}})
    assert collection.subtopics().rows() == ROWS
    assert collection.qrels().filter(qid="q1").rows() == [("q1", "d1", 2), ("q1", "d2", 1), ("q1", "d3", 0)]


def test_fields_of_the_catalogue() -> None:
    assert subtopic_field("clueweb12/trec-web-2014/diversity") == "subtopic_id"
    assert subtopic_field("msmarco-passage/trec-dl-2019") == "iteration"
    with pytest.raises(InputError, match="expected a field subtopic_id or iteration"):
        subtopic_field("codesearchnet/challenge")


CHECKED: dict[tuple[str, object], str] = {
    ("StRecall", None): "found 'StRecall', a subtopic measure, although dataset small has no subtopics; expected key "
    "'datasets.small.subtopics' or other measures",
    ("StRecall", False): "has no subtopics",
    ("StRecall", "gone.jsonl"): "datasets.small.subtopics': found no file",
    ("nDCG", 3): "datasets.small.subtopics': found 3; expected true or false or a text",
    ("StRecall", True): "",
    ("StRecall", "hops"): "",
}


@pytest.mark.parametrize(("measure", "subtopics"), CHECKED)
def test_the_start_checks_the_key(config: dict[str, Any], tmp_path: Path, measure: str, subtopics: object) -> None:
    config["grid"]["measures"] = ["nDCG", measure] if measure != "nDCG" else ["nDCG"]
    if subtopics is not None:
        config["datasets"]["small"]["subtopics"] = subtopics
    if not (expected := CHECKED[measure, subtopics]):
        study_of(config, tmp_path)
        return
    with pytest.raises(InputError) as error:
        study_of(config, tmp_path)
    assert expected in str(error.value) and "\n" not in str(error.value)
