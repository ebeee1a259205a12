"""What contradicts itself in files of answers is refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.answer_formats.answer_rows import ROWS, read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile
from ragrelay.collection.answer_formats.trec_rag import split_sentences
from ragrelay.generation.imported.imported_answers import Places, check_against, placed
from ragrelay.scoring.nugget_lists import folded
from ragrelay.scoring.sentences import cited_sentences


def read(tmp_path: Path, record: dict[str, Any], **said: Any) -> pl.DataFrame:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return read_answer_rows([AnswerFile(path, said)])


@pytest.mark.parametrize(
    ("record", "said", "message"),
    [
        ({"qid": "q1", "answer": "a", "qanswer": "b"}, {}, "different texts in answer and qanswer"),
        ({"qid": "q1", "answer": "a", "k": 2}, {"k": 1}, "k 2, but 1 in the file's name"),
        ({"qid": "q1", "answer": "a", "seed": "3"}, {"seed": 1}, "seed 3, but 1 in the file's name"),
        ({"qid": "q1", "answer": "a", "retriever": "dl"}, {"retriever": "bm25"}, "retriever 'dl', but"),
        ({"qid": "q1", "topic_id": "q2", "answer": [{"text": "a"}]}, {}, "topic_id 'q2' and qid 'q1'"),
        ({"topic_id": "q2", "metadata": {"narrative_id": "q3"}, "answer": []}, {}, "metadata.narrative_id 'q3'"),
        ({"qid": "q1", "answer": "a", "k": float("nan")}, {}, "k nan"),
    ],
)
def test_contradictions(tmp_path: Path, record: dict[str, Any], said: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, record, **said)
    assert "answers.jsonl, line 1" in str(error.value)
    assert message in str(error.value)


def test_what_is_said_twice_alike_is_read(tmp_path: Path) -> None:
    row = read(tmp_path, {"qid": "q1", "answer": "a", "qanswer": "a", "k": "2.0", "seed": ""}, k=2, seed=1)
    assert row.select("k", "seed").rows() == [(2, 1)]
    track = {"topic_id": "q1", "qid": "q1", "run_id": "theirs", "answer": [{"text": "a"}]}
    assert read(tmp_path, track, retriever="bm25")["retriever"].to_list() == ["bm25"]


def test_metadata_alone_is_not_trec_rag(tmp_path: Path) -> None:
    found = read(tmp_path, {"qid": "q1", "answer": "tea", "metadata": {"by": "hand"}})
    assert found.select("qid", "answer").rows() == [("q1", "tea")]


def test_zeroshot_with_passages() -> None:
    line = dict.fromkeys(ROWS) | {"place": "file, line 1", "qid": "q1", "answer": "a"}
    rows = pl.DataFrame([line | {"retriever": "zeroshot", "k": 2}], schema=ROWS)
    with pytest.raises(InputError, match="file, line 1: found retriever zeroshot with k 2"):
        placed(rows, Places(["bm25"], ["descending"], [2], [1]))


class Few:
    """A collection of one query and one passage."""

    def queries(self) -> pl.DataFrame:
        return pl.DataFrame({"qid": ["q1"]})

    def texts(self, docnos: list[str]) -> dict[str, str]:
        return {docno: "tea" for docno in docnos if docno == "d1"}


def test_many_unknown_passages() -> None:
    line = dict.fromkeys(ROWS) | {"place": "file, line 1", "qid": "q1", "answer": "a"}
    rows = pl.DataFrame([line | {"docnos": ["d1", *(f"x{n}" for n in range(25_000))]}], schema=ROWS)
    with pytest.raises(InputError, match="docno 'x0'"):
        check_against(rows, Few())  # type: ignore[arg-type]


def test_a_citation_of_five_thousand_digits_is_of_no_passage() -> None:
    assert cited_sentences(f"Tea grows [{'9' * 5000}, 2].")[0].cited == (0, 2)


def test_nuggets_that_look_the_same_are_the_same() -> None:
    assert folded("Caf\u00e9 opens") == folded("cafe\u0301 o\u200bpens")
    assert folded("x\u00b2") != folded("x2")


def test_sentences_are_cut_where_they_were() -> None:
    assert split_sentences('Tea... Rice?! "So." (Yes.) No') == ["Tea... ", "Rice?! ", '"So." ', "(Yes.) ", "No"]
