"""Answers of every format, from files that other programs' writers made, and what is wrong with a file."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile, answer_files, check_pattern

FRAME = pd.DataFrame(
    {
        "qid": ["1", "2", "3"],
        "query": ["what is tea", "who is she", "why"],
        "qanswer": ['tea is "grown"', "she, of course\nand no other", ""],
        "qcontext": ["d1 d2", "d3", ""],
    }
)
"""As PyTerrier-RAG's readers return it."""
WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True, compression="gzip"),
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
}


def rows_of(path: Path, **said: Any) -> pl.DataFrame:
    return read_answer_rows([AnswerFile(path, said)])


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records), "utf-8")
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_frames_of_pyterrier(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"answers.{ending}"
    WRITERS[ending](FRAME, path)
    found = rows_of(path, retriever="bm25", k=2)
    *texts, empty = FRAME["qanswer"].to_list()
    assert found["qid"].to_list() == ["1", "2", "3"] and empty == ""
    assert found["answer"].to_list() == [*texts, None if ending.startswith("csv") else empty]
    assert set(found["retriever"]) == {"bm25"} and set(found["k"]) == {2}
    assert found["docnos"].null_count() == found["seed"].null_count() == 3


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_plain_answers_with_all_keys(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame(
        {"qid": [7, 8], "answer": ["a", "b"], "retriever": ["x", "zeroshot"], "ordering": ["random", None],
         "k": [3, None], "seed": [1, 2], "docnos": [["d1", "d2"], None]}
    )  # fmt: skip
    if ending == "csv":
        frame["docnos"] = ['["d1", "d2"]', None]
    path = tmp_path / f"answers.{ending}"
    WRITERS[ending](frame, path)
    expected = [("7", "a", "x", "random", 3, 1, ["d1", "d2"]), ("8", "b", "zeroshot", None, None, 2, None)]
    assert rows_of(path).drop("place", "cited_sentences", "finish_reason").rows() == expected


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_missing_answer_is_no_empty_one(tmp_path: Path, ending: str) -> None:
    """Polars writes quotation marks for an empty text, and nothing for a missing one; pandas nothing for both."""
    path = tmp_path / f"answers.{ending}"
    frame = pl.DataFrame({"qid": [1, 2, 3], "answer": ["a", None, ""], "k": [1, 1, 1]})
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[ending](path)
    assert rows_of(path)["answer"].to_list() == ["a", None, ""]


def test_an_empty_field_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('note,qid,answer,k\r\n"a,"",b\nc",q1,,1\r\n\r\n,q2,"",\r\nx"",q3,,1\r\n"",q4,"tea",1')
    assert rows_of(path).select("answer", "k").rows() == [(None, 1), ("", None), (None, 1), ("tea", 1)]


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz"])
def test_quotation_marks_of_a_tsv_are_text(tmp_path: Path, ending: str) -> None:
    """TREC and MS MARCO write TSV without quoting."""
    texts = ['"An open quote', 'a 5" nail', '"closed" and more', '""', '"whole"', '"', "'", '"a" and ""b""', "a,b"]
    path = tmp_path / f"answers.{ending}"
    lines = ["qid\tanswer\tdocnos", *(f'{qid}\t{text}\t["d1", "d2"]' for qid, text in enumerate(texts)), "q\t\t"]
    table = "\r\n".join(lines).encode()
    path.write_bytes(gzip.compress(table) if ending.endswith("gz") else table)
    found = rows_of(path)
    assert found["answer"].to_list() == [*texts, None]
    assert found["docnos"].to_list() == [["d1", "d2"]] * len(texts) + [None]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('tea is "grown"', "line 2: found the field .* quoted as in CSV; expected TSV without quoting"),
        ("two\nlines", "line 2: found 2 fields; expected 3, as in the header; .*use CSV"),
        ("a\ttab", "line 2: found 4 fields; expected 3, as in the header"),
    ],
)
def test_a_tsv_that_was_written_with_quoting(tmp_path: Path, answer: str, message: str) -> None:
    """Read without it, its quotation marks would be part of the answers."""
    path = tmp_path / "answers.tsv"
    pd.DataFrame({"qid": ["q1"], "answer": [answer], "k": [1]}).to_csv(path, sep="\t", index=False)
    with pytest.raises(InputError, match=message):
        rows_of(path)


def test_trec_rag_of_2024_and_2025(tmp_path: Path) -> None:
    answer = [{"text": "Tea grows.", "citations": [2]}, {"text": "It does.\n", "citations": [0, 2]}]
    texts = [{**answer[0], "citations": ["d3"]}, {"text": "Yes", "citations": []}]
    old = {"run_id": "bm25", "topic_id": "1", "topic": "tea", "references": ["d1", "d2", "d3"], "answer": answer}
    about = {"team_id": "us", "run_id": "mine", "narrative_id": 2, "narrative": "tea"}
    new = {"metadata": about, "references": ["d3", "d4"], "answer": texts}
    uncited = {**old, "topic_id": "3", "answer": [{"text": "Tea.", "citations": []}]}
    found = rows_of(written(tmp_path, old, new, uncited))
    assert found.select("qid", "answer", "retriever", "docnos").rows() == [
        ("1", "Tea grows. It does.\n", "bm25", ["d1", "d3"]),
        ("2", "Tea grows. Yes", "mine", ["d3"]),
        ("3", "Tea.", "bm25", None),
    ]


@pytest.mark.parametrize(
    ("record", "parts"),
    [
        ('{"qid": "1", "answer": ', ["line 2", "invalid JSON"]),
        ('{"qid": "1", "answer": "a", "qid": "2"}', ["line 2", "duplicate key 'qid'"]),
        ("[]", ["line 2", "a list", "a JSON object"]),
        ({"qid": "1"}, ["line 2", "no text value for key 'answer'"]),
        ({"answer": "a"}, ["line 2", "no text value for key 'qid'"]),
        ({"qid": "1", "answer": 3}, ["line 2", "no text value for key 'answer'"]),
        ({"qid": "1", "answer": None, "qanswer": "a"}, ["line 2", "different texts in answer and qanswer"]),
        ({"qid": "1 2", "answer": "a"}, ["line 2", "qid '1 2'"]),
        ({"qid": "1", "answer": "a\0"}, ["line 2", "U+0000"]),
        ({"qid": "1", "answer": "a", "k": 1.5}, ["line 2", "k 1.5", "a whole number"]),
        ({"qid": "1", "answer": "a", "seed": -1}, ["line 2", "seed -1"]),
        ({"qid": "1", "answer": "a", "retriever": 3}, ["line 2", "retriever 3", "a name"]),
        ({"qid": "1", "answer": "a", "docnos": {"d1": 1}}, ["line 2", "docnos {'d1': 1}", "a list of passage ids"]),
        ({"qid": "1", "answer": "a", "docnos": ["d1", "d1"]}, ["line 2", "duplicate docno 'd1'"]),
        (
            {"qid": "1", "answer": "a", "docnos": ["d1\0"]},
            ["line 2", "docno 'd1\\x00', in which character 3 is U+0000"],
        ),
        ({"qid": "1", "answer": "a", "docnos": ["d 1"]}, ["line 2", "a docno without whitespace"]),
        ({"qid": "1", "answer": "a", "docnos": [""]}, ["line 2", "docno ''"]),
        ({"qid": "1", "answer": "a", "docnos": "[" * 100_000}, ["line 2", "docnos '[[[", "a list of passage ids"]),
        ({"qid": "1", "answer": "a", "k": "\u0663"}, ["line 2", "k '\u0663'", "a whole number"]),
        ({"topic_id": "1", "answer": "a"}, ["line 2", "an answer that isn't a list of sentences"]),
        ({"topic_id": "1", "answer": [{"text": 1}]}, ["line 2", "an answer that isn't a list of sentences"]),
        ({"run_id": "a", "answer": [{"text": "b"}]}, ["line 2", "topic_id None", "narrative_id in metadata"]),
        (
            {"topic_id": "1", "references": ["d1"], "answer": [{"text": "a", "citations": [1]}]},
            ["line 2", "citation 1", "number of references: 1"],
        ),
        ({"topic_id": "1", "answer": [{"text": "a", "citations": 5}]}, ["line 2", "citations 5", "ids or positions"]),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, record: Any, parts: list[str]) -> None:
    path = written(tmp_path, {"qid": "0", "answer": "fine"}, record)
    with pytest.raises(InputError) as error:
        rows_of(path)
    assert str(path) in str(error.value) and all(part in str(error.value) for part in parts), error.value


@pytest.mark.parametrize("name", ["qid", "answer", "docnos"])
def test_a_column_that_is_there_twice(tmp_path: Path, name: str) -> None:
    """A reader would take the last of the two; columns that it does not read may have any names."""
    path = tmp_path / "answers.csv"
    path.write_text("qid,answer,docnos,note,note\n1,a,d1,,\n")
    assert rows_of(path).height == 1
    for ending, separator in (("csv", ","), ("tsv", "\t")):
        path = tmp_path / f"answers.{ending}"
        path.write_text(f"qid,answer,docnos,{name}\n1,a,d1,x\n".replace(",", separator))
        message = rf"answers.{ending}, line 1: found duplicate column '{name}'; expected unique"
        with pytest.raises(InputError, match=message):
            rows_of(path)


@pytest.mark.parametrize("metadata", [None, [], "by hand", {"temperature": 0.3}])
def test_metadata_that_do_not_have_the_ids(tmp_path: Path, metadata: Any) -> None:
    """They are in the record, as in 2024."""
    answer = [{"text": "Tea.", "citations": None}]
    found = rows_of(written(tmp_path, {"run_id": "mine", "topic_id": "1", "metadata": metadata, "answer": answer}))
    assert found.select("qid", "answer", "retriever").rows() == [("1", "Tea.", "mine")]


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz", "jsonl.gz"])
def test_a_file_that_is_none_of_its_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"answers.{ending}"
    path.write_bytes(b'qid,answer\n1,"a\n2,b,c,d\n\xff')
    with pytest.raises(InputError, match="answers"):
        rows_of(path)


def test_a_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"qid": "1", "answer": "a"}\n' * 99)[:-9])
    with pytest.raises(InputError, match=r"damaged \.gz data"):
        rows_of(path)


def test_names_of_files_say_what_their_answers_are_of(tmp_path: Path) -> None:
    names = ["bm25.v2.descending.k2.seed1", "bm25.best_at_ends.k10.seed3", "zeroshot.none.k0.seed1", "a.b.k1.seed1"]
    folder = tmp_path / "[mine]" / "small"
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.jsonl").touch()
    found = answer_files("[mine]/{dataset}/{retriever}.{ordering}.k{k}.seed{seed}.jsonl", "small", tmp_path)
    assert [file.values for file in found] == [
        {"retriever": "bm25", "ordering": "best_at_ends", "k": 10, "seed": 3},
        {"retriever": "bm25.v2", "ordering": "descending", "k": 2, "seed": 1},
        {"retriever": "zeroshot", "ordering": "none", "k": 0, "seed": 1},
    ]
    assert answer_files("[mine]/{dataset}/none.csv", "small", tmp_path) == []
    assert [file.path for file in answer_files(f"[mine]/{{dataset}}/{names[0]}.jsonl", "small", tmp_path)] == [
        Path(f"[mine]/small/{names[0]}.jsonl")
    ]
    for pattern, message in (("{set}.csv", "{set} in"), ("{k}{k}.csv", "{k} twice"), ("a.txt", "ending in")):
        with pytest.raises(InputError, match=message):
            check_pattern("config key 'generators.a.path'", pattern)
