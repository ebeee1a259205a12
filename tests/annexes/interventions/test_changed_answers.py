"""Answers to changed contexts from the store: what is over the window is counted, and nothing else may be missing."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.interventions.answers import view_changed_answers
from ragrelay.annexes.interventions.columns import KEY
from ragrelay.annexes.interventions.prompts import build_changed_prompts
from ragrelay.base.errors import InputError
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.templates import Template

from tests.annexes.interventions.made_contexts import LEAVE_OUT, changed, contexts_of

TEMPLATE = Template(zeroshot="{query}", kshot="{contexts}{query}", context="{i} {text}\n")


class World:
    """Prompts of a context of three passages, each left out, and a store with answers to some of them."""

    def __init__(self, folder: Path) -> None:
        made, queries = changed({"out": LEAVE_OUT}), pl.DataFrame({"qid": ["q1"], "query": ["why"]})
        self.prompts = build_changed_prompts(queries, made.contexts, contexts_of(["q1"]), made.texts, TEMPLATE)
        self.store, self.receipt = AnswerStore(folder, "fp"), folder / "receipt.json"
        self.refuse()

    def prompt(self, place: int) -> str:
        return str(self.prompts.filter(place=place)["prompt_id"].item())

    def answer(self, *places: int, dropped: int = 0, seeds: tuple[int, ...] = (1, 2)) -> None:
        rows = [
            {"prompt_id": self.prompt(place), "seed": seed, "answer": f"{place}", "finish_reason": "stop",
             "prompt_tokens": 9, "cached_tokens": 0, "answer_tokens": 1, "logprob": -1.0, "dropped_passages": dropped}
            for place in places for seed in seeds
        ]  # fmt: skip
        self.store.append(rows, {"engine": "fake"})

    def refuse(self, *places: int) -> None:
        parts = ["prompt for qid 'q1' with 3 passages", "99 tokens", "at most 9, or over_window: truncate"]
        self.receipt.write_text(json.dumps({"over_window": {self.prompt(place): parts for place in places}}))

    def view(self, **options: Any) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
        return view_changed_answers(self.prompts, [1, 2], self.store, receipts=[self.receipt], **options)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_every_row_has_the_answers_of_its_seeds(world: World) -> None:
    world.answer(0, 1, 2, 3)
    answers, left_out = world.view()
    assert answers.select("place", "seed", "answer").rows() == [(p, s, f"{p}") for p in range(4) for s in (1, 2)]
    assert answers.select(*KEY, "docnos").unique().height == 4 and left_out == []


@pytest.mark.parametrize("shortened", [False, True])
def test_contexts_over_the_window_are_left_out_and_counted(world: World, *, shortened: bool) -> None:
    """Also the one that a cell of the grid has with fewer passages: it is not the context that was changed."""
    world.answer(1, 2, 3)
    if shortened:
        world.answer(0, dropped=1)
    else:
        world.refuse(0)
    answers, left_out = world.view(leaves_out=True)
    assert answers["place"].unique().sort().to_list() == [1, 2, 3]
    assert left_out == [{"what": "out, k = 3: changed contexts over the window", "count": 1}]


def test_where_nothing_is_left_out_a_context_over_the_window_is_an_error(world: World) -> None:
    world.answer(1, 2, 3)
    world.refuse(0)
    with pytest.raises(InputError, match=r"qid 'q1' with 3 passages: found 99 tokens; expected at most 9, or over_w"):
        world.view()


def test_an_answer_that_the_store_lacks_is_an_error(world: World) -> None:
    world.answer(0, 1, 2)
    world.answer(3, seeds=(1,))
    with pytest.raises(InputError, match="no answers to 1 of 8 prompts with changed contexts"):
        world.view(leaves_out=True)
