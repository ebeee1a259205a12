"""Answer files: views of the store, whole or not at all."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.generation.answer_files import COLUMNS, DROPPED, MISSING, UNCOUNTED, view_answers
from ragrelay.generation.store import AnswerStore
from ragrelay.generation.thought_marks import SCORED, UNCLOSED


def answer(prompt_id: str, seed: int) -> dict[str, Any]:
    return {
        "prompt_id": prompt_id, "seed": seed, "answer": f"{prompt_id} {seed}", "finish_reason": "stop",
        "prompt_tokens": 10, "cached_tokens": 8, "answer_tokens": 3, "logprob": -0.5 * seed, "dropped_passages": 1,
    }  # fmt: skip


class Views:
    """Two prompt files: k1 with queries q3, q1, q2, where q3 and q2 have the same prompt, and k2 with q1 alone."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, AnswerStore(folder / "cache", "fp")
        self.prompts = {("descending", k): folder / f"k{k}.parquet" for k in (1, 2)}
        one = {"qid": ["q3", "q1", "q2"], "prompt": ["x", "y", "x"], "prompt_id": ["px", "py", "px"]}
        pl.DataFrame(one).write_parquet(self.prompts["descending", 1])
        pl.DataFrame({"qid": ["q1"], "prompt": ["z"], "prompt_id": ["pz"]}).write_parquet(self.prompts["descending", 2])
        cells = [(*context, seed) for context in self.prompts for seed in (7, 2)]
        self.outputs = {cell: folder / "out" / f"k{cell[1]}" / f"seed{cell[2]}.parquet" for cell in cells}
        self.rows = [answer(prompt_id, seed) for prompt_id in ("px", "py", "pz") for seed in (7, 2)]

    def write(self) -> None:
        view_answers(self.prompts, self.store, self.outputs)


@pytest.fixture
def views(tmp_path: Path) -> Views:
    return Views(tmp_path)


def test_rows_in_the_prompts_order(views: Views) -> None:
    views.store.append([*views.rows, answer("other", 7), answer("px", 9)], {})
    views.write()
    for seed in (7, 2):
        found = pl.read_parquet(views.outputs["descending", 1, seed])
        assert found.columns == list(schema_of(COLUMNS))
        assert found.select("qid", "prompt_id", "seed", "answer").rows() == [
            ("q3", "px", seed, f"px {seed}"), ("q1", "py", seed, f"py {seed}"), ("q2", "px", seed, f"px {seed}"),
        ]  # fmt: skip
        assert found.drop("qid", "prompt_id", "seed", "answer").row(0) == ("stop", 10, 3, -0.5 * seed, 1)
        assert pl.read_parquet(views.outputs["descending", 2, seed])["answer"].to_list() == [f"pz {seed}"]


def test_answers_without_counts_of_tokens_are_counted(views: Views) -> None:
    unknown = {"prompt_tokens": None, "answer_tokens": None}
    views.store.append([row | unknown if row["prompt_id"] == "px" else row for row in views.rows], {})
    counts = view_answers(views.prompts, views.store, views.outputs)
    assert counts[1:] == [{"what": UNCOUNTED, "count": 4}], "two queries, two seeds"
    assert pl.read_parquet(views.outputs["descending", 1, 7])["prompt_tokens"].to_list() == [None, 10, None]


def test_same_bytes_however_the_store_was_filled(views: Views, tmp_path: Path) -> None:
    views.store.append(views.rows, {"engine": "one"})
    views.write()
    first = {key: path.read_bytes() for key, path in views.outputs.items()}
    again = Views(tmp_path / "again") if (tmp_path / "again").mkdir() is None else None
    assert again is not None
    random.Random(3).shuffle(again.rows)
    for row in again.rows:
        again.store.append([row], {"engine": "other"})
    again.write()
    assert {key: path.read_bytes() for key, path in again.outputs.items()} == first


def test_lacking_answers_stop_before_anything_is_written(views: Views) -> None:
    views.store.append([row for row in views.rows if (row["prompt_id"], row["seed"]) != ("pz", 2)], {})
    with pytest.raises(InputError, match=r"no answers for 1 of 6 keys; .*generate_answers"):
        views.write()
    assert not (views.folder / "out").exists()


def test_empty_store(views: Views) -> None:
    with pytest.raises(InputError, match="no answers for 6 of 6 keys"):
        views.write()


def test_earliest_answer_is_taken(views: Views) -> None:
    views.store.append(views.rows, {})
    views.store.append([{**row, "answer": "later"} for row in views.rows], {})
    views.write()
    assert pl.read_parquet(views.outputs["descending", 1, 7])["answer"].to_list() == ["px 7", "py 7", "px 7"]


def test_thinking_is_taken_off_the_view_and_stays_in_the_store(views: Views) -> None:
    whole = [{**row, "answer": f"<think>hm</think> {row['answer']}"} for row in views.rows]
    views.store.append(whole, {})
    view_answers(views.prompts, views.store, views.outputs, ("<think>", "</think>"))
    found = pl.read_parquet(views.outputs["descending", 1, 7])
    assert found["answer"].to_list() == ["px 7", "py 7", "px 7"]
    assert found["answer_tokens"].to_list() == [3, 3, 3]
    view_answers(views.prompts, views.store, views.outputs, "none")
    assert pl.read_parquet(views.outputs["descending", 1, 7])["answer"][0] == "<think>hm</think> px 7"


def test_missing_answers_are_null_and_counted_by_reason(views: Views) -> None:
    """A thought that did not end and a refusal are no answers: not the empty one, and not asked for again."""
    changed = {("px", 7): ("<think>hm", "length"), ("py", 7): (None, "refusal"), ("pz", 2): ("", "stop")}
    rows = [{**row, **dict(zip(("answer", "finish_reason"), changed[key], strict=True))}
            if (key := (row["prompt_id"], row["seed"])) in changed else row for row in views.rows]  # fmt: skip
    views.store.append(rows, {})
    left_out = view_answers(views.prompts, views.store, views.outputs, ("<think>", "</think>"))
    assert left_out[1:] == [
        {"what": MISSING, "count": 1, "of": {"finish_reason": "refusal"}},
        {"what": MISSING, "count": 2, "of": {"finish_reason": "thinking"}},
    ]
    found = pl.read_parquet(views.outputs["descending", 1, 7]).select("qid", "answer", "finish_reason")
    assert found.rows() == [("q3", None, "thinking"), ("q1", None, "refusal"), ("q2", None, "thinking")]
    assert pl.read_parquet(views.outputs["descending", 2, 2])["answer"].to_list() == [""]
    assert views.store.held(pl.DataFrame(list(changed), schema=["prompt_id", "seed"], orient="row")).height == 3


THINK = ("<think>", "</think>")


@pytest.mark.parametrize(
    ("text", "thinking", "counted"),
    [
        ("Tea. <think>Or is it", THINK, True),
        ("<think>A leaf?</think>Tea.\n<think>Or", THINK, True),
        ("Tea. <reasoning>Or is it", THINK, True),
        ("Tea. [THINK]Or is it", None, True),
        ("Tea. ◁think▷Or is it", [], True),
        ("Tea. Let me see: or", ["Let me see:", "So:"], True),
        ("Tea. <think>Or is it", "none", False),
        ("<think>A leaf?</think>Tea.", THINK, False),
        ("Tea. Let me see: or", THINK, False),
        ("Tea, as I think (see [THINK and <b>).", None, False),
    ],
)
def test_a_thought_within_an_answer_that_does_not_end_is_counted(
    views: Views, text: str, thinking: Any, counted: bool
) -> None:
    """The answer is read as before, with the thought, so scores don't change; page and terminal warn."""
    views.store.append([{**row, "answer": text} if row["prompt_id"] == "px" else row for row in views.rows], {})
    left_out = view_answers(views.prompts, views.store, views.outputs, thinking)
    expected = [{"what": UNCLOSED, "count": 4, "warning": SCORED}] if counted else []
    assert left_out[1:] == expected, "two queries, two seeds"
    answer = pl.read_parquet(views.outputs["descending", 1, 7])["answer"][0]
    assert answer == (text.rpartition("</think>")[2].strip() if thinking == THINK else text)


def test_blanks_before_a_thought_that_does_not_end_are_no_answer(views: Views) -> None:
    views.store.append([{**row, "answer": f"\n <think>hm {row['seed']}"} for row in views.rows], {})
    left_out = view_answers(views.prompts, views.store, views.outputs, THINK)
    assert left_out[1:] == [{"what": MISSING, "count": 8, "of": {"finish_reason": "thinking"}}]


def test_dropped_passages_are_counted(views: Views) -> None:
    """Those of stored answers count too: they are this retriever's, whichever run made them."""
    views.store.append([{**row, "dropped_passages": 2} for row in views.rows], {})
    asked = sum(len(pl.read_parquet(path)) for path in views.prompts.values()) * len({s for _, _, s in views.outputs})
    [dropped] = view_answers(views.prompts, views.store, views.outputs)
    assert dropped == {"what": DROPPED, "count": 2 * asked}
