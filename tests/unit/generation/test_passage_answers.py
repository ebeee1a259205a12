"""Answers to single passages from files: what a line must say, and what a study takes of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.imported.passage_answers import checked_passages, read_single_answers

FILE = "alone.jsonl"


def read(collection: LocalCollection, folder: Path, *lines: dict[str, Any]) -> pl.DataFrame:
    path = folder / FILE
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return checked_passages([(str(path), {})], [5, 6], collection)


@pytest.fixture
def collection(write_dataset: Callable[..., Path]) -> LocalCollection:
    return LocalCollection(write_dataset())


def test_a_line_names_its_passage(collection: LocalCollection, tmp_path: Path) -> None:
    rows = read(
        collection, tmp_path, {"qid": "q1", "docno": "d1", "answer": "a"},
        {"qid": "q1", "docnos": ["d2"], "answer": "b", "seed": 6, "retriever": "bm25", "k": 1},
        {"qid": "q1", "docno": "d1", "answer": "a", "retriever": "dense", "k": 1},
    )  # fmt: skip
    columns = ["qid", "docno", "seed", "answer"]
    assert rows.select(columns).rows() == [("q1", "d1", 5, "a"), ("q1", "d2", 6, "b")], "the same answer once"
    table = tmp_path / "alone.csv"
    table.write_text('qid,docno,answer\nq1,d1,"a, b"\nq2,d1,\n')
    rows = checked_passages([(str(table), {"seed": 6})], [5, 6], collection)
    assert rows.select(columns).rows() == [("q1", "d1", 6, "a, b"), ("q2", "d1", 6, None)]
    rows.rename({"docno": "docnos"}).select("qid", "answer", docno="docnos").write_parquet(tmp_path / "alone.parquet")
    assert checked_passages([(str(tmp_path / "alone.parquet"), {})], [6], collection)["docno"].to_list() == ["d1", "d1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"qid": "q1", "answer": "a"}, 'found no docno; expected {"qid": ..., "docno": ..., "answer": ...}'),
        ({"qid": "q1", "docnos": ["d1", "d2"], "answer": "a"}, "found 2 passages; expected"),
        ({"qid": "q1", "docno": "d77", "answer": "a"}, "found docno 'd77'; expected one of the dataset's docnos"),
        ({"qid": "q9", "docno": "d1", "answer": "a"}, "found qid 'q9'; expected one of the dataset's qids"),
        ({"qid": "q1", "docno": "d1", "answer": "other"}, "found a second answer to query q1 with passage d1, seed 5"),
    ],
)
def test_lines_that_are_none(collection: LocalCollection, tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read(collection, tmp_path, {"qid": "q1", "docno": "d1", "answer": "a"}, line)
    assert f"{FILE}, line 2: " in str(error.value) and message in str(error.value)


def test_what_a_study_takes(collection: LocalCollection, tmp_path: Path) -> None:
    rows = read(
        collection, tmp_path, {"qid": "q1", "docno": "d2", "answer": None}, {"qid": "q1", "docno": "d1", "answer": "a"},
        {"qid": "q2", "docno": "d1", "answer": "b"}, {"qid": "q1", "docno": "d1", "answer": "c", "seed": 9},
        {"qid": "q1", "docno": "d3", "answer": "not ranked"},
    )  # fmt: skip
    ranked = pl.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"]})
    answers, counts = read_single_answers(rows, ["q1"], ranked, [5, 6], "the files")
    assert answers.drop("prompt_id").rows() == [("q1", "d1", 5, "a", None), ("q1", "d2", 5, None, "missing")]
    assert answers["prompt_id"].n_unique() == 2
    assert [one["count"] for one in counts] == [1, 1, 2], "another seed, another query, no answer with seed 6"
    thinking = tmp_path / "thinking.csv"
    thinking.write_text("qid,docno,answer\nq1,d1,[THINK]A leaf?\nq1,d2,\n")
    thoughts = checked_passages([(str(thinking), {"thinking": ["[THINK]", "[/THINK]"]})], [5], collection)
    answers, _ = read_single_answers(thoughts, ["q1"], ranked, [5], "the files")
    assert answers.select("answer", "finish_reason").rows() == [(None, "thinking"), (None, "missing")]
    with pytest.raises(InputError, match=r"the files: found none of the answers to ranked passages.*'q1', docno 'd2'"):
        read_single_answers(rows, ["q1"], ranked.with_columns(docno=pl.lit("d8")).unique(), [5, 6], "the files")
