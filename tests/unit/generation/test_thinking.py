"""Thinking blocks taken off answers; the store's text and counts stay."""

import polars as pl
import pytest
from ragrelay.generation.thinking import THINKING, without_thinking


@pytest.mark.parametrize(
    ("answer", "finish_reason", "expected"),
    [
        ("<think>a leaf?</think>\n\nTea.", "stop", "Tea."),
        ("a leaf? </think> Tea.", "stop", "Tea."),
        ("<think></think>Tea", "length", "Tea"),
        ("<think>one</think>two</think>Tea", "stop", "Tea"),
        ("<think>a leaf</think>", "stop", ""),
        ("<think>a leaf", "length", None),
        ("<think>a leaf", "stop", None),
        ("a leaf", "length", None),
        (None, "refusal", None),
        ("Tea.", "stop", "Tea."),
        ("", "stop", ""),
    ],
)
def test_what_is_left(answer: str | None, finish_reason: str, expected: str | None) -> None:
    row = {"answer": answer, "finish_reason": finish_reason, "answer_tokens": 9}
    frame = pl.DataFrame([row], schema={"answer": pl.String, "finish_reason": pl.String, "answer_tokens": pl.Int64})
    found = without_thinking(frame, ("<think>", "</think>"))
    assert found.row(0, named=True) == {
        **row,
        "answer": expected,
        "finish_reason": THINKING if expected is None and answer is not None else finish_reason,
    }


def test_marks_are_text() -> None:
    frame = pl.DataFrame({"answer": ["(.*)x(.)y"], "finish_reason": ["stop"]})
    assert without_thinking(frame, ("(.*)", "(.)"))["answer"].item() == "y"
