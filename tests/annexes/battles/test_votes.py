"""Questions about pairs of answers, and the votes that are read from the replies."""

from typing import Any

import numpy as np
import polars as pl
from ragrelay.annexes.battles.votes import asked_pairs, joined_answers, read_votes
from ragrelay.questions.judging.templates import JudgeTemplate
from ragrelay.scoring.reference_sets import QueryReferences

TEMPLATE = JudgeTemplate("{query}|{first}|{second}|{references}", "<{text}>")
REFERENCES = {"q1": QueryReferences(0, ["d1", "d2"], ["worse", "better"], np.array([1, 2]), "")}


def pairs(*texts: tuple[str, str], qid: str = "q1") -> pl.DataFrame:
    rows = [("a", "b", "descending", 1, qid, seed, *pair) for seed, pair in enumerate(texts, 1)]
    columns = ["retriever", "against", "ordering", "k", "qid", "seed", "answer", "other"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def asked(*texts: tuple[str, str], references: Any = REFERENCES, **fields: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    return asked_pairs(pairs(*texts, **fields), {"q1": "why"}, references, 1, TEMPLATE)


def test_each_pair_is_asked_about_in_both_orders_with_the_best_reference() -> None:
    rows, questions = asked(("yes", "no"))
    assert questions["prompt"].to_list() == ["why|yes|no|<better>", "why|no|yes|<better>"]
    assert rows["number"].to_list() == [0, 1] and rows["prompt_id"].to_list() == questions["prompt_id"].to_list()


def test_equal_answers_tie_and_an_empty_one_loses_without_a_question() -> None:
    """Composed and decomposed letters are equal, and so are answers that differ in blanks at an end."""
    rows, questions = asked(("caf\u00e9", "cafe\u0301 "), ("", "text"), ("text", " "), ("", " "))
    assert questions.is_empty() and rows["given"].to_list() == [0.5, 0.5, 0, 0, 1, 1, 0.5, 0.5]
    votes = read_votes(rows, pl.DataFrame(schema={"prompt_id": pl.String, "shares": pl.List(pl.Float64)}))
    assert votes["score"].to_list() == [0.5, 0, 1, 0.5] and votes["asked"].to_list() == [0] * 4


def test_a_query_without_references_is_not_judged() -> None:
    assert asked(("yes", "no"), qid="q2")[0].is_empty()
    assert (
        asked_pairs(pairs(("yes", "no")), {"q1": "why"}, None, 1, JudgeTemplate("{query}{first}{second}"))[0].height
        == 2
    )


def test_the_most_probable_word_is_the_vote() -> None:
    """`first` when the answer is the first, `second` when it is the second: it wins twice. Then it ties once."""
    rows, questions = asked(("yes", "no"), ("one", "two"))
    shares = pl.DataFrame({"prompt_id": questions["prompt_id"],
                           "shares": [[0.6, 0.3, 0.1], [0.1, 0.5, 0.4], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]})  # fmt: skip
    votes = read_votes(rows, shares)
    assert votes.select("score_first", "score_second", "score").rows() == [(1.0, 1.0, 1.0), (0.0, 0.5, 0.25)]
    unread = read_votes(rows, shares.with_columns(shares=pl.when(pl.col("prompt_id") == rows["prompt_id"][1]).then(
        None).otherwise("shares")))  # fmt: skip
    assert unread["score"].to_list() == [None, 0.25] and unread["score_first"].to_list() == [1.0, 0.0]


def test_answers_meet_in_their_cell_and_zero_shot_answers_meet_all() -> None:
    cells = pl.DataFrame({"qid": ["q1"] * 2, "ordering": ["descending"] * 2, "k": [1, 3], "seed": [1, 1],
                          "answer": ["a1", "a3"], "certain": [True, False]})  # fmt: skip
    other = cells.with_columns(answer=pl.Series(["b1", "b3"]))
    known, unknown = joined_answers(cells, other, "a", "b")
    assert known.select("k", "answer", "other").rows() == [(1, "a1", "b1")]
    assert unknown.select("k", "answer", "other").rows() == [(3, "a3", "b3")]
    zeroshot = other.head(1).with_columns(ordering=pl.lit("none"), k=pl.lit(0, pl.Int64))
    known, _ = joined_answers(cells.with_columns(certain=True), zeroshot, "a", "zeroshot")
    assert known.select("ordering", "k", "answer", "other").rows() == [
        ("descending", 1, "a1", "b1"), ("descending", 3, "a3", "b1")]  # fmt: skip
