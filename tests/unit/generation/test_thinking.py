"""Thinking blocks taken off answers; the store's text and counts stay."""

import polars as pl
import pytest
from ragrelay.generation.thinking import without_thinking


@pytest.mark.parametrize(
    ("answer", "finish_reason", "expected"),
    [
        ("<think>a leaf?</think>\n\nTea.", "stop", "Tea."),
        ("a leaf? </think> Tea.", "stop", "Tea."),
        ("<think></think>Tea", "length", "Tea"),
        ("<think>one</think>two</think>Tea", "stop", "Tea"),
        ("<think>a leaf", "length", ""),
        ("<think>a leaf", "stop", ""),
        ("a leaf", "length", ""),
        ("Tea.", "stop", "Tea."),
        ("", "stop", ""),
    ],
)
def test_what_is_left(answer: str, finish_reason: str, expected: str) -> None:
    row = {"answer": answer, "finish_reason": finish_reason, "answer_tokens": 9}
    frame = pl.DataFrame([row])
    found = without_thinking(frame, ("<think>", "</think>"))
    assert found.row(0, named=True) == {**row, "answer": expected}


def test_marks_are_text() -> None:
    frame = pl.DataFrame({"answer": ["(.*)x(.)y"], "finish_reason": ["stop"]})
    assert without_thinking(frame, ("(.*)", "(.)"))["answer"].item() == "y"
