"""Files of votes: formats, spellings, placement, and what is ignored or refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.battles.vote_files import CHANGED, ELSEWHERE, NO_VOTE, UNKNOWN, read_vote_file
from ragrelay.base.errors import InputError

GRID: dict[str, Any] = {"generators": ["g"], "orderings": ["descending"], "ks": [3], "seeds": [1, 2]}
ANSWERS = pl.DataFrame(
    [("a", "descending", 3, qid, 1, f"a on {qid}") for qid in ("q1", "q2")]
    + [("b", "descending", 3, qid, 1, f"b on {qid}") for qid in ("q1", "q2")]
    + [("zeroshot", "none", 0, qid, 1, f"plain on {qid}") for qid in ("q1", "q2")],
    schema=["retriever", "ordering", "k", "qid", "seed", "answer"], orient="row",
)  # fmt: skip


def read(tmp_path: Path, text: str, pairs: Any = (("a", "b"),), name: str = "votes.csv", grid: Any = GRID) -> Any:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_vote_file(path, grid, pairs, ANSWERS, "g")


def scores(votes: pl.DataFrame) -> list[tuple[Any, ...]]:
    return votes.select("qid", "score_first", "score_second", "score").rows()


def test_votes_are_averaged_over_assessors_then_over_orders(tmp_path: Path) -> None:
    """In q1 Ann and Ben see a first: win and tie; Ann sees it second: loss."""
    text = "qid,first,second,vote,assessor\nq1,a,b,first,Ann\nq1,a,b,tie,ben\nq1,b,a,b,ANN \nq2,b,a,second,Ann\n"
    votes, counts = read(tmp_path, text)
    assert scores(votes) == [("q1", 0.75, 0.0, 0.375), ("q2", None, 1.0, 1.0)]
    assert [row["count"] for row in counts] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("said", "score"), [("model_a", 1.0), ("tie (bothbad)", 0.5), ("2", 0.0), ("A", 1.0), ("b", 0.0)]
)
def test_spellings_of_other_programs(tmp_path: Path, said: str, score: float) -> None:
    """A retriever's own name comes first: here `b` is the second."""
    record = {"qid": "q1", "first": "a", "second": "b", "vote": said}
    votes, _ = read(tmp_path, json.dumps(record), name="votes.jsonl")
    assert scores(votes) == [("q1", score, None, score)]


def test_what_is_ignored_is_counted(tmp_path: Path) -> None:
    """A vote on another text is of another answer; zero-shot answers have no k of their own."""
    text = ("qid,first,second,vote,first_answer\nq1,a,b,,\nq1,a,zeroshot,first,\nq9,a,b,first,\n"
            "q2,a,b,first,another text\nq1,b,a,first,b on q1\n")  # fmt: skip
    votes, counts = read(tmp_path, text)
    assert scores(votes) == [("q1", None, 0.0, 0.0)]
    assert {row["what"]: row["count"] for row in counts} == {NO_VOTE: 1, ELSEWHERE: 1, UNKNOWN: 1, CHANGED: 1}
    votes, _ = read(tmp_path, text, pairs=(("a", "zeroshot"),))
    assert votes.select("against", "k", "score").rows() == [("zeroshot", 3, 1.0)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("qid,first,second,vote\nq1,a,b,best\n", "vote 'best'"),
        ("qid,first,second\nq1,a,b\n", "no vote, only qid, first, second"),
        ("qid,first,second,vote\nq1,a,a,first\n", "'a' as both first and second"),
        ("qid,first,vote\nq1,a,first\n", "no key second, only qid, first, vote"),
        ("qid,first,second,vote\n", "no vote"),
        ("qid,first,second,vote,assessor\nq1,a,b,first,Ann\nq1,a,b,tie,ann\n", "a second vote on qid q1"),
        ("qid,first,second,vote\nq9,a,b,first\n", "no vote on a pair of g's answers that this battle"),
    ],
)
def test_malformed_files_are_refused_in_one_line(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert found in str(raised.value) and "\n" not in str(raised.value) and "votes.csv" in str(raised.value)


def test_a_grid_with_several_k_needs_a_k(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no k"):
        read(tmp_path, "qid,first,second,vote\nq1,a,b,first\n", grid={**GRID, "ks": [1, 3]})
