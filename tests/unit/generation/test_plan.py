"""The plan: exact counts from files and store, estimates from what is held; shared keys once in the total."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.generation.past_jobs import pace_of
from ragrelay.generation.plan import Planner, Unit, plan_generation
from ragrelay.generation.plan_table import csv_table, printed_table
from ragrelay.report.stage_columns import PLAN

from tests.unit.generation.test_generation_job import TEMPLATE, FakeEngine, Job


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


def planned(job: Job, ks: dict[str, list[int]], **generator: Any) -> tuple[pl.DataFrame, dict[str, Planner]]:
    planners = {"lm": Planner({**job.generator, **generator}, "fp", TEMPLATE, job.folder / "cache", threads=1)}
    units = [
        Unit("d", "lm", name, [job.folder / f"k{k}.parquet" for k in of_k], job.layout.queries, job.layout.contexts)
        for name, of_k in ks.items()
    ]
    return plan_generation(units, planners, [1, 2]), planners


def test_nothing_held(small: Job) -> None:
    table, _ = planned(small, {"one": [1], "both": [1, 2]})
    texts = {k: pl.read_parquet(small.folder / f"k{k}.parquet")["prompt"] for k in (1, 2)}
    tokens = {k: sum(len(text.encode()) + 1 for text in prompts) for k, prompts in texts.items()}
    exact = table.select("cells", "prompts", "asked", "held", "to_make", "prompt_tokens").rows()
    assert exact[0] == (2, 4, 8, 0, 8, 2 * tokens[1])
    assert exact[1] == (4, 8, 16, 0, 16, 2 * (tokens[1] + tokens[2]))
    assert exact[2] == (6, *exact[1][1:]), "the first unit's keys are all among the second's"
    assert table["answer_tokens"].to_list() == [8 * 16, 16 * 16, 16 * 16], "max_tokens, as nothing is held"
    assert table["gpu_hours"].is_null().all()


def test_what_is_held_is_not_to_come(small: Job) -> None:
    receipt = small.run(FakeEngine(), small.asked(ks=(1,)))
    table, planners = planned(small, {"one": [1], "both": [1, 2]})
    assert table.select("held", "to_make").rows() == [(8, 0), (8, 8), (8, 8)]
    assert table["prompt_tokens"].to_list()[0] == 0
    assert table["answer_tokens"].to_list() == [0, 16, 16], "8 answers of 2 tokens, the mean of those held"
    assert planners["lm"].pace.answer_tokens_from == "mean of 8 answers held"
    made = small.run(FakeEngine())
    assert made["prompt_tokens"] == table["prompt_tokens"].to_list()[2] and receipt["made"] + made["made"] == 16


def test_speed_from_the_configuration_and_from_parts(small: Job) -> None:
    table, _ = planned(small, {"one": [1]}, tokens_per_second=2.0, tensor_parallel_size=2)
    assert table["gpu_hours"].to_list()[0] == pytest.approx(8 * 16 / 2 / 3600 * 2)
    store, row = small.store(), {"seed": 1, "answer": "", "finish_reason": "stop", "prompt_tokens": 1,
        "cached_tokens": 0, "logprob": 0.0, "dropped_passages": 0}  # fmt: skip
    for number, (device, seconds, tokens) in enumerate([("old", "1", 9000), ("new", "20", 100), ("new", "30", 150)]):
        made = {**row, "prompt_id": str(number), "answer_tokens": tokens}
        store.append([made], {"device": device, "seconds": seconds})
    pace = pace_of(small.store(), small.generator)
    assert (pace.tokens_per_second, pace.device) == (5.0, "new")
    assert pace.answer_tokens == pytest.approx(9250 / 3)


def test_two_generators_with_one_fingerprint_share_their_answers(small: Job) -> None:
    planner = Planner(small.generator, "fp", TEMPLATE, small.folder / "cache", threads=1)
    other = Planner(small.generator, "other", TEMPLATE, small.folder / "cache", threads=1)
    files = ([small.folder / "k1.parquet"], small.layout.queries, small.layout.contexts)
    units = [Unit("d", name, "one", *files) for name in ("lm", "twin", "else")]
    table = plan_generation(units, {"lm": planner, "twin": planner, "else": other}, [1])
    assert table["asked"].to_list() == [4, 4, 4, 8]


def test_estimates_are_labelled(small: Job) -> None:
    table, planners = planned(small, {"one": [1]})
    paces = {name: planner.pace for name, planner in planners.items()}
    written = csv_table(table, paces)
    assert written.columns == list(PLAN)
    exact = ["dataset", "generator", "retriever", "cells", "prompts", "asked", "held", "to_make", "prompt_tokens"]
    assert written.columns[:9] == exact
    assert all(name.endswith(("_estimate", "_from", "tokens_per_second")) for name in written.columns[9:])
    printed = printed_table(table, paces, [])
    assert all(label in printed for label in ("~answer tokens", "~prefix shared tokens", "~GPU-hours", "~disk MB"))
    assert "max_tokens, an upper bound" in printed and "speed unknown" in printed
    assert "Not counted" not in printed
    left_out = printed_table(table, paces, ["judge_passages", "score_claims"]).splitlines()[-1]
    assert left_out.startswith("Not counted: judge_passages, score_claims, ")
