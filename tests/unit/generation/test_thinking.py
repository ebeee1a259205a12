"""Thinking blocks taken off answers; the store's text and counts stay."""

import polars as pl
import pytest
from ragrelay.generation.thought_marks import FAMILIES, THINKING, without_thinking


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
        ("<think>\na leaf?\n</think>\n<answer>\nTea.\n</answer>", "stop", "Tea."),
        ("a leaf?\n</think>\n\n<response>\nTea. </answer>\n</response>\n", "stop", "Tea. </answer>"),
        ("<think>\na leaf?\n</think>\n<answer>\nTea.\nGreen", "length", "Tea.\nGreen"),
        ("<answer>Tea.</answer>", "stop", "Tea."),
        ("a leaf</think>In <answer>Tea.</answer>", "stop", "In <answer>Tea.</answer>"),
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


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            "<|channel|>analysis<|message|>a leaf?assistant<|channel|>commentary<|message|>so"
            "assistant<|channel|>final<|message|>Tea.",
            "<|channel|>analysis<|message|>",
        ),
        ("<|channel|>final<|message|>Tea.", "<|channel|>analysis<|message|>"),
        ("<|channel>thought\na leaf?<channel|>Tea.", "<|channel>thought"),
        ("<|content_thinking|>a leaf?<|content_text|>Tea.", "<|content_thinking|>"),
        ("to=self<|message|>a leaf?to=user<|message|>Tea.", "to=self<|message|>"),
        (
            "<|open|>think<|sep|>a leaf?<|close|>think<|sep|><|open|>response<|sep|>Tea.<|close|>response<|sep|>"
            "<|close|>message<|sep|>",
            "<|open|>think<|sep|>",
        ),
        ("Here is my thought process: a leaf? Here is my response: Tea.", "Here is my thought process:"),
    ],
)
def test_families_whose_marks_are_of_several_tokens(text: str, start: str) -> None:
    """Texts are as models write them, without special tokens that are in no mark; one is cut before its last mark."""
    [marks] = [family[:2] for family in FAMILIES if family.start == start]
    frame = pl.DataFrame({"answer": [text, text.rpartition(marks[1])[0]], "finish_reason": ["stop", "stop"]})
    found = without_thinking(frame, marks)
    assert found["answer"].to_list() == ["Tea.", None if text.startswith(start) else ""]
