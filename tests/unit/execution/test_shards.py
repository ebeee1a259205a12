"""The number of shards that the plan finds by the key `shards: auto`."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.execution.plan.budget import plan_receipt, shards_of_plan
from ragrelay.execution.plan.shards import SHARE_OF_RUNTIME, AutoShards, plan_generation
from ragrelay.execution.plan.work import Job as Planned

from tests.unit.execution.test_plan import planned_files, planner
from tests.unit.generation.test_generation_job import FakeEngine, Job

NEW = AutoShards("d", "lm", 1, planned=False, begun=False)


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


def found(
    job: Job, limit: int | None, one: AutoShards = NEW, **generator: Any
) -> tuple[pl.DataFrame, dict[str, Any], str]:
    """Plan shards for 16 answers to four queries, each of 16 tokens at most."""
    files = planned_files(job, {"d": [1, 2]})
    jobs = [Planned("generate_answers", "d", "lm", shards=one.shards, files=files)]
    table, shards, [note] = plan_generation(jobs, {"lm": planner(job, **generator)}, [1, 2], [one], limit)
    return table, shards, note


@pytest.mark.parametrize(("minutes_of_work", "number"), [(6.9, 1), (7.1, 2), (14.1, 3)])
def test_a_job_ends_within_its_share_of_the_time_limit(small: Job, minutes_of_work: float, number: int) -> None:
    assert SHARE_OF_RUNTIME == 0.7
    table, shards, note = found(small, 10, tokens_per_second=16 * 16 / (minutes_of_work * 60))
    assert shards == {"d": {"lm": number}}
    assert note.startswith(f"Shards (auto) of d, lm: {number}, with which a job takes ~")
    assert table["engine_starts"].to_list()[0] == number, "the plan is that of the number that was found"


def test_no_more_shards_than_queries(small: Job) -> None:
    assert found(small, 1, tokens_per_second=0.01)[1] == {"d": {"lm": 4}}


def test_an_engines_start_is_part_of_a_jobs_time(small: Job) -> None:
    row = {"prompt_id": "p", "seed": 9, "answer": "", "finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0,
        "answer_tokens": 16, "logprob": 0.0, "dropped_passages": 0}  # fmt: skip
    small.store().append([row], {"device": "cpu", "seconds": "10", "start_seconds": "240"})
    speed = 16 * 16 / (6 * 60)
    assert found(small, 10, tokens_per_second=speed)[1] == {"d": {"lm": 2}}, "of 7 minutes, 4 are the start's"
    _, shards, note = found(small, 5, tokens_per_second=speed)
    assert shards == {} and "an engine's start takes ~240 s, longer than 0.7 of the runtime" in note


def test_it_stays_once_there_are_answers(small: Job) -> None:
    slow = {"tokens_per_second": 0.1}
    planned = AutoShards("d", "lm", 2, planned=True, begun=False)
    assert found(small, 10, planned, **slow)[1] == {"d": {"lm": 4}}, "the time limit has changed since"
    begun = AutoShards("d", "lm", 3, planned=False, begun=True)
    assert found(small, 10, begun, **slow)[1] == {"d": {"lm": 3}}
    small.run(FakeEngine(), small.asked(ks=(1,)))
    assert found(small, 10, planned, **slow)[1] == {"d": {"lm": 2}}
    assert found(small, 10, NEW, tokens_per_second=0.01)[1] == {"d": {"lm": 4}}, "another study's answers"


def test_where_nothing_decides_it_a_later_plan_does(small: Job) -> None:
    assert found(small, None, tokens_per_second=1.0)[1:] == (
        {}, "Shards (auto) of d, lm: 1, as the profile sets no runtime.",
    )  # fmt: skip
    assert found(small, 10)[1] == {}, "no speed is known"
    planned = AutoShards("d", "lm", 3, planned=True, begun=False)
    assert found(small, None, planned)[1] == {"d": {"lm": 3}}, "a plan without the profile changes nothing"


@pytest.mark.parametrize(
    ("hours", "shards", "at_once", "told"),
    [
        (3.0, 1, 50, "Shards of d, lm: one job takes ~3.0 h, and the profile allows 50: "),
        (3.0, 2, 50, "Shards of d, lm: 2 at a time take ~1.5 h each, and the profile allows 50: "),
        (3.0, 4, 50, ""),
        (3.0, 1, 1, ""),
        (3.0, 1, None, ""),
        (0.9, 1, 50, ""),
    ],
)
def test_the_plan_says_where_shards_are_fewer_than_the_profiles_jobs(
    small: Job, hours: float, shards: int, at_once: int | None, told: str
) -> None:
    """It says so if a job is long, and if the profile submits more jobs than that at a time."""
    files, lm = planned_files(small, {"d": [1, 2]}), planner(small, tokens_per_second=16 * 16 / (hours * 3600))
    jobs = [Planned("generate_answers", "d", "lm", shards=shards, files=files)]
    _, _, notes = plan_generation(jobs, {"lm": lm}, [1, 2], [], 480, at_once)
    assert [note.startswith(told) for note in notes] == [True] * bool(told)


def test_they_are_read_from_the_plan(tmp_path: Path) -> None:
    receipt = tmp_path / "plan.json"
    assert shards_of_plan(receipt) == {}
    receipt.write_text('{"planned": "by an earlier version"}', encoding="utf-8")
    assert shards_of_plan(receipt) == {}
    receipt.write_text("[", encoding="utf-8")
    with pytest.raises(InputError, match="a damaged plan; expected an intact plan; delete this file, then"):
        shards_of_plan(receipt)
    total = {"gpu_hours": 1.0, "prompt_tokens": 1, "answer_tokens": 1}
    assert plan_receipt(total, "hash", {"d": {"lm": 2}}, {}, {})["shards"] == {"d": {"lm": 2}}
