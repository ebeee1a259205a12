"""Stored answers beside the same made again: what is equal, and how long the texts are the same."""

from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.recheck.comparison import COLUMNS, compared, same_until
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.generation.store import SCHEMA

Answer = tuple[str | None, str | None, int | None, int | None]
"""Text, finish reason, tokens of prompt and answer."""
GIVEN: Answer = ("the old bridge fell", "stop", 40, 4)


@pytest.mark.parametrize(
    ("one", "other", "until"),
    [
        ("the old bridge fell", "the old bridge fell", None),
        ("the old bridge fell", "the old house fell", 2),
        ("the old bridge", "the old bridge fell", 3),
        ("the old bridge fell", "", 0),
        ("", "", None),
        ("", "a", 0),
        (None, "the", 0),
        ("the", None, 0),
        (None, None, None),
        ("the  old", "the old", 2),
    ],
)
def test_words_until_two_texts_differ(one: str | None, other: str | None, until: int | None) -> None:
    """Texts that differ only in what the words leave out, such as blanks, have all their words in common."""
    assert same_until(one, other, str.split) == until
    assert same_until(other, one, str.split) == until


def side(answers: list[Answer | None]) -> pl.DataFrame:
    """Rows of the store, of prompts p0, p1, …; none for None."""
    rows = [
        {"prompt_id": f"p{place}", "seed": 1, "answer": answer[0], "finish_reason": answer[1],
         "prompt_tokens": answer[2], "answer_tokens": answer[3]}
        for place, answer in enumerate(answers) if answer
    ]  # fmt: skip
    return pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in rows], schema=SCHEMA)


def compare(then: list[Answer | None], now: list[Answer | None], **more: Any) -> pl.DataFrame:
    drawn = pl.DataFrame(
        [(f"q{place}", f"p{place}", 1, "bm25", "descending", 2) for place in range(len(then))],
        schema=["qid", "prompt_id", "seed", "retriever", "ordering", "k"],
        orient="row",
    )
    # In any order, as a store and an engine give them.
    return compared(drawn, side(then).reverse(), side(now).reverse(), str.split, "words", **more)


@pytest.mark.parametrize(
    ("now", "equal", "until"),
    [
        (GIVEN, True, None),
        (("the old bridge fell ", *GIVEN[1:]), False, 4),
        (("the old bridge", "stop", 40, 3), False, 3),
        ((GIVEN[0], "length", 40, 4), False, None),
        ((GIVEN[0], "stop", 41, 4), False, None),
        ((GIVEN[0], "stop", 40, 5), False, None),
        ((GIVEN[0], "stop", None, None), True, None),
        ((None, "refusal", 40, 0), False, 0),
        (None, False, 0),
    ],
)
def test_equal_is_text_reason_and_counts(now: Answer | None, equal: bool, until: int | None) -> None:
    """A number of tokens that an endpoint did not give says nothing."""
    (row,) = compare([GIVEN], [now]).to_dicts()
    assert (row["equal"], row["same_until"]) == (equal, until)


def test_missing_answers_and_empty_ones() -> None:
    refused: Answer = (None, "refusal", 40, 0)
    filtered: Answer = (None, "content_filter", 40, 0)
    empty: Answer = ("", "stop", 40, 0)
    rows = compare([refused, refused, empty, empty, refused], [refused, filtered, empty, refused, GIVEN])
    assert rows["equal"].to_list() == [True, False, True, False, False]
    assert rows["same_until"].to_list() == [None, None, None, 0, 0]
    assert rows["answer_now"].to_list() == [None, None, "", None, GIVEN[0]]


def test_the_table_has_its_columns_and_the_order_of_the_draw() -> None:
    rows = compare([GIVEN, ("other", "length", 7, 9)], [GIVEN, ("else", "stop", 7, 9)])
    assert {**rows.schema, "equal_here": pl.Boolean} == schema_of(COLUMNS)
    assert rows["qid"].to_list() == ["q0", "q1"] and rows["answer_then"].to_list() == [GIVEN[0], "other"]
    assert rows["finish_reason_now"].to_list() == ["stop", "stop"]
    assert rows["answer_tokens_then"].to_list() == [4, 9]


def test_a_thought_counts_for_equality_and_is_no_part_of_the_answer() -> None:
    thoughts = [("<think>so</think>yes", "stop", 9, 5), ("<think>no end", "length", 9, 5)]
    others = [("<think>or</think>yes", "stop", 9, 5), ("<think>no end", "length", 9, 5)]
    rows = compare(thoughts, others, marks=["<think>", "</think>"])
    assert rows["equal"].to_list() == [False, True]
    assert rows["answer_then"].to_list() == rows["answer_now"].to_list() == ["yes", None]
    assert rows["finish_reason_now"].to_list() == ["stop", "thinking"]


def test_a_thought_that_was_a_request_of_its_own_counts_too() -> None:
    parts = {"thought": "<think>a leaf</think>", "thought_tokens": 3, "thought_end": "mark"}
    then = side([GIVEN]).with_columns(pl.lit(value).alias(name) for name, value in parts.items())
    changed = then.with_columns(thought=pl.lit("<think>a tree</think>"))
    drawn = pl.DataFrame(
        [("q0", "p0", 1, "bm25", "descending", 2)],
        schema=["qid", "prompt_id", "seed", "retriever", "ordering", "k"], orient="row",
    )  # fmt: skip
    for now, equal, until in ((then, True, None), (changed, False, 1)):
        (row,) = compared(drawn, then, now, str.split, "words", ["<think>", "</think>"]).to_dicts()
        assert (row["equal"], row["same_until"]) == (equal, until)
        assert row["answer_now"] == GIVEN[0] and row["answer_tokens_then"] == GIVEN[3] - 3
