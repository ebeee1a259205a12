"""Files of nuggets: TREC's lines and Parquet are read alike, and what is none is named by line or row."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.scoring.nugget_lists import SCHEMA, left_out, of_queries, read_nuggets

PYTHON = {
    "query": "What is Python?",
    "qid": "q1",
    "nuggets": [
        {"text": "Python is a programming language", "importance": "vital", "assignment": "support"},
        {"text": " made by\nGuido van Rossum ", "importance": "okay", "reasoning": None},
    ],
}
TEA = {"qid": 10, "nuggets": [{"text": "grows on hills", "importance": "okay"}]}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "nuggets.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def test_lists_of_trec_and_parquet(tmp_path: Path) -> None:
    found = read_nuggets(written(tmp_path, PYTHON, "", TEA))
    assert found.schema == pl.Schema(SCHEMA)
    rows = [
        ("q1", 1, "Python is a programming language", True, None),
        ("q1", 2, "made by Guido van Rossum", False, None),
        ("10", 1, "grows on hills", False, None),
    ]
    assert found.rows() == rows
    found.drop("nugget", "vital_probability").write_parquet(tmp_path / "nuggets.parquet")
    assert read_nuggets(tmp_path / "nuggets.parquet").rows() == rows


def nuggets(*found: Any) -> dict[str, Any]:
    return {"qid": "q1", "nuggets": list(found)}


GOOD = {"text": "a fact", "importance": "vital"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "found no nugget"),
        (["{"], "line 1: found"),
        ([TEA, {"nuggets": [GOOD]}], "line 2: found no text value for key 'qid'"),
        ([{"qid": "q 1", "nuggets": [GOOD]}], "line 1: found qid 'q 1'"),
        ([{"qid": "q1", "nuggets": "a fact"}], "line 1: found no list for key 'nuggets'"),
        ([nuggets()], "line 1: found an empty list for qid 'q1'; expected at least one nugget"),
        ([nuggets("a fact")], "line 1: found nugget 'a fact'"),
        ([nuggets({"text": "a fact"})], "line 1: found importance None; expected vital or okay"),
        ([nuggets({"text": "a fact", "importance": "failed"})], "line 1: found importance 'failed'"),
        ([nuggets({"text": "a fact", "importance": ["vital"]})], "line 1: found importance ['vital']"),
        ([nuggets({"text": " ", "importance": "vital"})], "line 1: found nugget text ' '"),
        ([nuggets(GOOD, {"text": "A  fact", "importance": "okay"})], "line 1: found duplicate nugget 'A fact' for qid"),
        ([nuggets(GOOD), TEA, nuggets(GOOD)], "line 3: found a second list for qid 'q1' (first on line 1)"),
    ],
)
def test_what_is_no_list(tmp_path: Path, lines: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read_nuggets(written(tmp_path, *lines))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"qid": ["q1"], "text": ["a fact"]}, "found no column vital"),
        ({"qid": ["q1"], "text": ["a fact"], "vital": [None]}, "row 1: found vital None; expected true or false"),
        ({"qid": ["q1"], "text": ["a fact"], "vital": ["okay"]}, "row 1: found vital 'okay'"),
        ({"qid": ["q1", None], "text": ["a", "b"], "vital": [True, True]}, "row 2: found no text value for key 'qid'"),
    ],
)
def test_what_is_no_table(tmp_path: Path, table: dict[str, Any], said: str) -> None:
    path = tmp_path / "nuggets.parquet"
    pl.DataFrame(table).write_parquet(path)
    with pytest.raises(InputError, match=re.escape(said)):
        read_nuggets(path)
    path.write_bytes(b"text")
    with pytest.raises(InputError, match="found an unreadable Parquet file"):
        read_nuggets(path)
    with pytest.raises(InputError, match="found no such file"):
        read_nuggets(tmp_path / "others.parquet")


def test_lists_of_other_queries_are_counted_and_left_alone(tmp_path: Path) -> None:
    found = read_nuggets(written(tmp_path, PYTHON, TEA))
    whole, none = of_queries("nuggets.jsonl", found, ["q1", "10", "11"])
    assert whole.equals(found) and none == 0
    ours, others = of_queries("nuggets.jsonl", found, ["q1", "11"])
    assert ours.equals(found.filter(qid="q1")) and others == 1
    with pytest.raises(InputError, match=r"^nuggets.jsonl: found only lists for other queries, such as qid 'q1'"):
        of_queries("nuggets.jsonl", found, ["11"])


def test_what_a_file_lacks_is_counted(tmp_path: Path) -> None:
    found = read_nuggets(written(tmp_path, PYTHON, TEA))
    counts = {one["what"]: one["count"] for one in left_out(found, ["q1", "10", "11", "12"], 3)}
    assert counts == {
        "queries without nuggets (no score)": 2,
        "queries without a vital nugget (no score by these alone)": 1,
        "lists of nuggets for unknown queries": 3,
    }
