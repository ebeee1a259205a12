"""The scorer of nuggets: what a judge is asked, and the score that its probabilities give."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.scoring.judge_scorer import JudgeCase
from ragrelay.scoring.nugget_lists import SCHEMA
from ragrelay.scoring.scorers.nuggets import Nuggets

LISTS = {"q1": [("it pumps", True), ("blood flows", True), ("it has four parts", False)]}
SHARES = {"support": [0.5, 0.3, 0.2], "partial": [0.3, 0.4, 0.3], "none": [0.1, 0.2, 0.7]}


def scorer(**keys: Any) -> Nuggets:
    return Nuggets(generator="judge", path="nuggets.jsonl", **keys)


def asked(one: Nuggets, answer: str, qid: str = "q1") -> JudgeCase:
    return JudgeCase(qid, "how does the heart work", answer, own=LISTS.get(qid))


def score(one: Nuggets, items: list[str], said: list[str | None]) -> float:
    rows = [(number, item, SHARES.get(word or "")) for number, (item, word) in enumerate(zip(items, said, strict=True))]
    schema = {"number": pl.Int64, "item": pl.String, "shares": pl.List(pl.Float64)}
    found: float = pl.DataFrame(rows, schema=schema, orient="row").select(one.measured()).item()
    return found


def test_lists_are_read_by_query(tmp_path: Path) -> None:
    rows = [("q1", n, text, vital, None) for n, (text, vital) in enumerate(LISTS["q1"], start=1)]
    pl.DataFrame(rows, schema=SCHEMA, orient="row").write_parquet(tmp_path / "nuggets.parquet")
    assert scorer().own([tmp_path / "nuggets.parquet"]) == LISTS


def test_nuggets_that_count_are_asked_about() -> None:
    one = asked(scorer(value="all_strict"), "the heart pumps")
    questions = scorer(value="all_strict").questions(one)
    assert [question.item for question in questions] == ["vital", "vital", "okay"]
    assert [question.texts and question.texts["nugget"] for question in questions] == [text for text, _ in LISTS["q1"]]
    assert [question.item for question in scorer().questions(one)] == ["vital", "vital"]
    assert (scorer().size(one), scorer(value="all_strict").size(one)) == (2, 3)
    assert scorer().size(asked(scorer(), "tea", "q2")) is None, "a query without nuggets has no score"


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [("vital_strict", 0.5), ("vital_lenient", 0.75), ("all_strict", 1 / 3), ("weighted_lenient", 1.5 / 2.5)],
)
def test_scores_by_the_likeliest_word(value: str, by_hand: float) -> None:
    judged = scorer(value=value)
    items = [question.item for question in judged.questions(asked(judged, "the heart pumps"))]
    assert score(judged, items, ["support", "partial", "none"][: len(items)]) == pytest.approx(by_hand)


def test_an_answer_without_text_scores_nothing_and_is_not_asked_about() -> None:
    questions = scorer().questions(asked(scorer(), " "))
    assert [question.texts for question in questions] == [None, None]
    assert score(scorer(), [question.item for question in questions], [None, None]) == 0
