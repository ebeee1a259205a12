"""Thoughts told from answers, in texts that have both and in rows that have them apart."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.generation.past_jobs import pace_of
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.thought_marks import FAMILIES, THINKING

from tests.support.thoughts import told

MARKS = ["<think>", "</think>"]


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
    found = told([row], MARKS).row(0, named=True)
    unfinished = expected is None and answer is not None
    end = None if answer is None else "unfinished" if unfinished else "mark" if "</think>" in answer else "none"
    assert found == {
        **row,
        "answer": expected,
        "finish_reason": THINKING if unfinished else finish_reason,
        "thought": found["thought"],
        "thought_tokens": None,
        "thought_end": end,
    }
    before = {"unfinished": answer, "mark": answer and answer[: answer.rfind("</think>") + len("</think>")]}
    assert found["thought"] == before.get(str(end))


APART: dict[str, Any] = {
    "answer": "Tea.", "finish_reason": "length", "answer_tokens": 9, "thought": "<think>a</think>", "thought_tokens": 4,
    "thought_end": "mark",
}  # fmt: skip


@pytest.mark.parametrize("marks", [MARKS, [], None])
def test_an_answer_whose_thought_is_apart(marks: list[str] | None) -> None:
    """Its tokens are the answer's alone, and its limit is no sign of a thought."""
    assert told([APART], marks).row(0, named=True) == {**APART, "answer_tokens": 5}


def test_a_second_thought_after_the_first() -> None:
    again = {**APART, "answer": "<think>b</think>Tea.", "finish_reason": "stop"}
    expected = {**again, "answer": "Tea.", "thought": "<think>a</think><think>b</think>", "answer_tokens": 5}
    assert told([again], MARKS).row(0, named=True) == expected
    assert told([{**again, "answer": "<think>b"}], MARKS)["answer"].to_list() == [None]


def test_wraps_are_taken_off_where_the_marks_are_a_hubs() -> None:
    wrapped = {**APART, "answer": "<answer>Tea.</answer>"}
    assert [told([wrapped], marks)["answer"].item() for marks in ([], None)] == ["Tea.", wrapped["answer"]]


def test_marks_are_text() -> None:
    found = told([{"answer": "(.*)x(.)y", "finish_reason": "stop"}], ("(.*)", "(.)"))
    assert (found["thought"].item(), found["answer"].item()) == ("(.*)x(.)", "y")


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
    texts = [text, text.rpartition(marks[1])[0]]
    found = told([{"answer": each, "finish_reason": "stop"} for each in texts], marks)
    assert found["answer"].to_list() == ["Tea.", None if text.startswith(start) else ""]


def test_a_plan_without_answers_counts_the_budget(generator: dict[str, Any], tmp_path: Path) -> None:
    """Not at a chat endpoint, whose one limit is max_tokens."""
    thinks = {**generator, "max_tokens": 7, "thinking": {"marks": MARKS, "budget": 9}}
    served = {**thinks, "engine": "openai", "chat": True}
    store = AnswerStore(tmp_path, "f")
    paces = [pace_of(store, each) for each in (thinks, {**served, "tokenizer": "a/b"}, served)]
    assert [pace.answer_tokens for pace in paces] == [16, 16, 7]
    assert paces[0].answer_tokens_from == "max_tokens and thinking.budget, an upper bound"
