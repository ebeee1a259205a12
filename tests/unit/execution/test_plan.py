"""The plan: exact counts from files and store, estimates from what is cached; shared keys once in the total."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.plan import plan_jobs
from ragrelay.execution.plan.table import csv_table, printed_table
from ragrelay.execution.plan.work import Job as Planned
from ragrelay.generation.likelihoods.store import LikelihoodStore, scoring_speed
from ragrelay.generation.past_jobs import Speed, fitted, pace_of
from ragrelay.report.stage_columns import PLAN

from tests.unit.generation.test_generation_job import TEMPLATE, FakeEngine, Job


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


QUERIES, CONTEXTS = ("queries", "queries"), ("bm25", "contexts")
"""Name of the file of a dataset, and of the job's file that it is a copy of."""
PROMPTS = "<results>/{dataset}/prompts/{template}/{retriever}/k{k}.parquet"


def planned_files(job: Job, ks: dict[str, list[int]]) -> dict[str, KeyedFiles]:
    """The job's prompts as those of datasets, with ``ks`` of each: of zero-shot the first, of bm25 the others."""
    prompts = [
        copy(job, f"{name}/prompts/{job.generator['prompt']}/{'bm25' if place else 'zeroshot'}/k{k}", f"k{k}")
        for name, of_k in ks.items()
        for place, k in enumerate(of_k)
    ]
    queries, contexts = (tuple(copy(job, f"{name}/{each[0]}", each[1]) for name in ks) for each in (QUERIES, CONTEXTS))
    return {
        "prompts": KeyedFiles(PROMPTS, tuple(prompts)),
        "queries": KeyedFiles("<results>/{dataset}/queries.parquet", queries),
        "contexts": KeyedFiles("<results>/{dataset}/{retriever}.parquet", contexts),
    }


def copy(job: Job, name: str, of: str = "queries") -> Path:
    target = job.folder / f"{name}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(job.folder / f"{of}.parquet", target)
    return target


def planner(job: Job, fingerprint: str = "fp", **generator: Any) -> GeneratorPlan:
    return GeneratorPlan({**job.generator, **generator}, fingerprint, TEMPLATE, job.folder / "cache", threads=1)


def planned(
    job: Job, ks: dict[str, list[int]], shards: int = 1, **generator: Any
) -> tuple[pl.DataFrame, dict[str, GeneratorPlan]]:
    generators = {"lm": planner(job, **generator)}
    files = planned_files(job, ks)
    jobs = [Planned("generate_answers", name, "lm", shards=shards, files=files) for name in ks]
    return plan_jobs(jobs, generators, [1, 2]), generators


def test_nothing_held(small: Job) -> None:
    table, _ = planned(small, {"one": [1], "both": [1, 2]})
    texts = {k: pl.read_parquet(small.folder / f"k{k}.parquet")["prompt"] for k in (1, 2)}
    tokens = {k: sum(len(text.encode()) + 1 for text in prompts) for k, prompts in texts.items()}
    exact = table.select("cells", "prompts", "asked", "cached", "to_make", "prompt_tokens").rows()
    assert exact[0] == (2, 4, 8, 0, 8, 2 * tokens[1])
    assert exact[1] == (4, 8, 16, 0, 16, 2 * (tokens[1] + tokens[2]))
    assert exact[2] == (6, *exact[1][1:]), "the first unit's keys are all among the second's"
    assert table["answer_tokens"].to_list() == [8 * 16, 16 * 16, 16 * 16], "max_tokens, as nothing is cached"
    assert table["gpu_hours"].is_null().all()


def test_what_is_held_is_not_to_come(small: Job) -> None:
    receipt = small.run(FakeEngine(), small.asked(ks=(1,)))
    table, planners = planned(small, {"one": [1], "both": [1, 2]})
    assert table.select("cached", "to_make").rows() == [(8, 0), (8, 8), (8, 8)]
    assert table["prompt_tokens"].to_list()[0] == 0
    assert table["answer_tokens"].to_list() == [0, 16, 16], "8 answers of 2 tokens, the mean of those cached"
    assert planners["lm"].pace.answer_tokens_from == "mean of 8 cached answers"
    made = small.run(FakeEngine())
    assert made["prompt_tokens"] == table["prompt_tokens"].to_list()[2] and receipt["made"] + made["made"] == 16


def test_missing_keys_are_counted_by_job(small: Job) -> None:
    """By shard, under the name of the file in which the job's own count is."""
    small.run(FakeEngine(), small.asked(ks=(1,)))
    files, missing = planned_files(small, {"one": [1], "both": [1, 2]}), dict[str, int]()
    jobs = [
        Planned("generate_answers", name, "lm", shards=2, files=files, counts=[f"{name}/shard{{shard}}.json"])
        for name in ("one", "both")
    ]
    table = plan_jobs(jobs, {"lm": planner(small)}, [1, 2], missing)
    assert [sum(missing[f"{name}/shard{shard}.json"] for shard in (0, 1)) for name in ("one", "both")] == [0, 8]
    assert len(missing) == 4 and table["to_make"].to_list() == [0, 8, 8]


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


def test_the_speed_of_a_job_is_that_of_all_its_engines(small: Job) -> None:
    table, _ = planned(small, {"one": [1]}, tokens_per_second=2.0, engines_per_job=4)
    assert table["gpu_hours"].to_list()[0] == pytest.approx(8 * 16 / 2 / 3600), "a quarter of the time on four GPUs"
    store, row = small.store(), {"prompt_id": "p", "seed": 1, "answer": "", "finish_reason": "stop", "prompt_tokens": 1,
        "cached_tokens": 0, "answer_tokens": 100, "logprob": 0.0, "dropped_passages": 0}  # fmt: skip
    store.append([row], {"device": "new", "seconds": "10", "engines": "2"})
    several = {count: pace_of(store, {**small.generator, "engines_per_job": count}) for count in (1, 2, 4)}
    assert {count: pace.tokens_per_second for count, pace in several.items()} == {1: 5.0, 2: 10.0, 4: 20.0}
    assert several[4].speed.answer == pytest.approx(several[1].speed.answer / 4)
    scored = LikelihoodStore(small.folder / "cache", "fp")
    told = {"device": "new", "seconds": "10", "engines": "2", "prompt_tokens": "1000", "cached_tokens": "0"}
    scored.append([{"prompt_id": "p", "continuation": "c", "tokens": 1, "logprob": -1.0}], told)
    speeds = {count: scoring_speed(scored, pace)[0].prompt for count, pace in several.items()}
    assert speeds == pytest.approx({1: 0.02, 2: 0.01, 4: 0.005})
    generator = {**small.generator, "engines_per_job": 4}
    for device, gpus in (("new", 4), ("cpu", 1)):
        store.append([{**row, "prompt_id": device}], {"device": device, "seconds": "10", "engines": "2"})
        planner = GeneratorPlan(generator, "fp", TEMPLATE, small.folder / "cache", threads=1)
        assert planner.price("answers").gpus == gpus, "on a CPU they share the machine"


def test_hours_follow_prompts_answers_and_starts(small: Job) -> None:
    """The engine takes 1 ms per computed prompt token, 5 ms per answer token and 30 s to start."""
    store, row = small.store(), {"seed": 1, "answer": "", "finish_reason": "stop", "logprob": 0.0,
        "dropped_passages": 0}  # fmt: skip
    for number, (prompt, cached, answer) in enumerate([(9000, 1000, 100), (500, 0, 900), (4000, 500, 400)]):
        made = {**row, "prompt_id": str(number), "prompt_tokens": prompt, "cached_tokens": cached}
        seconds = 0.001 * (prompt - cached) + 0.005 * answer
        described = {"device": "cpu", "seconds": f"{seconds:.3f}", "start_seconds": "30"}
        store.append([{**made, "answer_tokens": answer}], described)
    speed = pace_of(small.store(), small.generator).speed
    assert speed is not None and (speed.prompt, speed.answer) == pytest.approx((0.001, 0.005), rel=0.01)
    table, _ = planned(small, {"one": [1], "both": [1, 2]}, shards=2)
    assert table["engine_starts"].to_list() == [2, 2, 4], "the second job still has the other prompts to make"
    for row in table.to_dicts():
        computed = row["prompt_tokens"] - row["prefix_shared_tokens"]
        seconds = 0.001 * computed + 0.005 * row["answer_tokens"] + 30 * row["engine_starts"]
        assert row["gpu_hours"] * 3600 == pytest.approx(seconds, rel=0.01)


def test_parts_that_are_all_alike_give_a_speed_for_others_too() -> None:
    alike = pl.DataFrame({"prompt_tokens": [1000] * 3, "cached_tokens": [0] * 3, "answer_tokens": [100] * 3,
        "seconds": [12.7] * 3})  # fmt: skip
    speed = fitted(alike)
    assert speed is not None and speed.seconds(1000, 100) == pytest.approx(12.7, rel=1e-3)
    assert speed.answer == pytest.approx(2.7 * speed.prompt, rel=1e-3)
    slower = fitted(alike.vstack(alike.with_columns(prompt_tokens=pl.lit(2000, pl.Int64), seconds=pl.lit(12.0))))
    assert slower is not None and slower.prompt == 0 < slower.answer, "more prompt tokens never save time"
    assert fitted(alike.clear()) is None


def test_scoring_texts_has_its_own_speed_once_it_is_known(small: Job) -> None:
    store = LikelihoodStore(small.folder / "cache", "fp")
    pace = replace(pace_of(small.store(), small.generator), start_seconds=7.0)
    assert scoring_speed(store, pace)[0] is None
    configured = scoring_speed(store, replace(pace, speed=Speed(0.0, 0.5)))
    assert configured == (Speed(0.5, 0.0), "the speed of answer tokens, an upper bound", 7.0)
    assert scoring_speed(store, replace(pace, speed=Speed(0.1, 0.5)))[0] == Speed(0.1, 0.0)
    row = {"prompt_id": "p", "continuation": "c", "tokens": 1, "logprob": -1.0}
    told = {"device": "cpu", "seconds": "20", "prompt_tokens": "1000", "cached_tokens": "200", "start_seconds": "4"}
    store.append([row], told)
    expected = (Speed(20 / 800, 0.0), "earlier jobs on cpu", 4.0)
    assert (
        scoring_speed(LikelihoodStore(small.folder / "cache", "fp"), replace(pace, speed=Speed(0.1, 0.5))) == expected
    )


def test_two_generators_with_one_fingerprint_share_their_answers(small: Job) -> None:
    generators = {"lm": planner(small), "twin": planner(small), "else": planner(small, "other")}
    files = planned_files(small, {"one": [1]})
    jobs = [Planned("generate_answers", "one", name, files=files) for name in generators]
    assert plan_jobs(jobs, generators, [1])["asked"].to_list() == [4, 4, 4, 8]


def test_estimates_are_labelled(small: Job) -> None:
    table, generators = planned(small, {"one": [1]})
    written = csv_table(table, generators)
    assert set(written.columns) == set(PLAN)
    exact = ["dataset", "generator", "retriever", "job", "cells", "judged_answers", "prompts", "asked", "cached",
        "to_make", "of_answers_to_come", "requests", "prompt_tokens", "engine_starts"]  # fmt: skip
    assert written.columns == list(PLAN) and written.columns[:14] == exact
    assert all(name.endswith(("_estimate", "_from", "tokens_per_second")) for name in written.columns[14:])
    printed = printed_table(table, generators)
    assert all(label in printed for label in ("~answer tokens", "~prefix shared tokens", "~GPU-hours", "~disk MB"))
    assert "max_tokens, an upper bound" in printed and "speed unknown" in printed
