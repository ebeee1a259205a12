"""Thoughts in answers without a key for them: one line with the key to write, wherever answers come from."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.imported.imported_answers import answer_rows
from ragrelay.generation.job import accepted
from ragrelay.generation.requests import asked_keys, least_budget, tokenised, with_texts
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.thought_marks import FAMILIES, SHOWN_ONLY, check_shown

from tests.unit.generation.test_requests import Prompts

TAGS = ["think", "thinking", "Thought", "thoughts", "reasoning", "THINK", "scratchpad", "reflection", "think:6124c78e"]
MARKS = [*(family[:2] for family in (*FAMILIES, *SHOWN_ONLY)), *((f"<{name}>", f"</{name}>") for name in TAGS)]


def refusal(answer: str, thinking: Any = None) -> str:
    try:
        check_shown(answer, "here", "the answer", thinking)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("start", "end"), MARKS, ids=[start for start, _ in MARKS])
def test_marks_of_every_family(start: str, end: str) -> None:
    """With both, after white space, without an end (where the start is no word) and without a start, if not words."""
    written = f"thinking: {json.dumps([start, end], ensure_ascii=False)}, or thinking: none"
    whole = f"{start}A leaf?{end}\n\nTea."
    texts = [whole, f"\n {whole}", *([f"{start}A leaf, or a ro"] if start != "analysis" else [])]
    texts += [f"A leaf?\n{end}\n\nTea."] if ": " not in f"{end} " else []
    for text in texts:
        assert written in refusal(text), text
        assert refusal(text, "none") == refusal(text, {"marks": "none"}) == ""
        assert refusal(text, [start, end]) == refusal(text, {"marks": [start, end], "budget": 7}) == ""
    assert "a different key 'thinking'" in refusal(whole, ["[a]", "[/a]"])


@pytest.mark.parametrize(
    "answer",
    [
        "", "Tea.", "An analysis of tea.", "I think so.", "thinking: it is tea", "x < think > y", "<b>Tea</b>",
        "Here is my response: tea.", "Reasoning: a leaf. Answer: tea", "<answer>Tea</answer>", "to=user", "2 <3",
        "[THINK", "the final channel", "&lt;think&gt;",
    ],
)  # fmt: skip
def test_answers_without_marks(answer: str) -> None:
    assert refusal(answer) == ""


def rows(texts: list[str | None]) -> Iterator[dict[str, Any]]:
    yield from ({"prompt_id": f"p{number}", "answer": text} for number, text in enumerate(texts))


def test_a_job_ends_at_the_first() -> None:
    """The answers before it are kept; nothing more is asked for."""
    asked = rows(["Tea.", None, "<think>A leaf?</think>Tea.", "Tea."])
    found = []
    with pytest.raises(
        InputError, match=r"^generator of model 'm': found no key 'thinking', although .* prompt p2 has"
    ):
        found += [row["prompt_id"] for row in accepted(asked, {"model": "m"}, False)]
    assert next(asked, None) is None
    assert len(list(accepted(rows(["</think>Tea."]), {"model": "m", "thinking": "none"}, False))) == 1


def test_a_job_keeps_what_was_before() -> None:
    found = []
    with pytest.raises(InputError):
        for row in accepted(rows(["Tea.", "Milk.", "[THINK]Hm[/THINK]Tea."]), {"model": "m"}, False):
            found.append(row["prompt_id"])
    assert found == ["p0", "p1"]


def test_answers_of_earlier_versions(tmp_path: Path) -> None:
    """The store may have them; with the key they are read without their thoughts."""
    store, keys = AnswerStore(tmp_path, "f"), pl.DataFrame({"prompt_id": ["p", "q"], "seed": [1, 1]})
    counts = {"prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 9, "dropped_passages": 0, "logprob": None}
    texts = {"p": "Tea.", "q": "A leaf?</think>Tea."}
    store.append(
        [
            {"prompt_id": key, "seed": 1, "answer": text, "finish_reason": "stop", **counts}
            for key, text in texts.items()
        ],
        {},
    )
    with pytest.raises(InputError, match=r'cached answers in .* prompt q has .*thinking: \["<think>", "</think>"\]'):
        store.answers(keys, None)
    assert store.answers(keys, ["<think>", "</think>"])["answer"].to_list() == ["Tea.", "Tea."]
    assert store.answers(keys, "none").sort("prompt_id")["answer"].to_list() == [*texts.values()]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("single", [False, True])
def test_imported_answers(tmp_path: Path, name: str, single: bool) -> None:
    path, text = tmp_path / name, "<think>A leaf?</think>Tea."
    line = (
        f'{{"qid": "1", "docno": "d", "answer": "{text}"}}' if name == "a.jsonl" else f'qid,docno,answer\n1,d,"{text}"'
    )
    path.write_text(line + "\n")

    def read(**values: Any) -> list[str]:
        return answer_rows([(str(path), values)], single)["answer"].to_list()

    with pytest.raises(
        InputError, match=rf"{name}, (line|row) \d: found no key 'thinking', although .* has the thought mark '<think>'"
    ):
        read()
    with pytest.raises(InputError, match="found a different key 'thinking'"):
        read(thinking=["[a]", "[/a]"])
    assert read(thinking=["<think>", "</think>"]) == ["Tea."] and read(thinking="none") == [text]


@pytest.mark.parametrize("window", [360, 700, 3000, 9000])
def test_the_default_budget_is_what_the_window_leaves(
    tmp_path: Path, generator: dict[str, Any], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = Prompts(tmp_path, {f"q{number}": f"question {number}" for number in range(3)})
    part = next(with_texts(asked_keys({"bm25": prompts.files}, [1])))

    def budgets(definition: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
        made = list(tokenised(part, definition, window, prompts.layout))
        return {request.prompt_id: (len(request.token_ids), request.budget) for request in made}

    thinks = {**generator, "max_tokens": 20, "over_window": "error", "thinking": ["<a>", "</a>"]}
    found = budgets(thinks)
    assert least_budget(thinks) == 1 and len(found) == part["prompt_id"].n_unique()
    assert all(budget == min(4096, window - 20 - size) and budget > 0 for size, budget in found.values())
    fixed = {**thinks, "thinking": {"marks": ["<a>", "</a>"], "budget": window}}
    with pytest.raises(InputError, match=r"window \d+ minus max_tokens and thinking\.budget"):
        budgets(fixed)
