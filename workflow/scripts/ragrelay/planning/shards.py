"""Choose the number of query shards for the key `shards: auto`, from the plan and the time limit of a job."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ragrelay.planning.generator_plan import GeneratorPlan
from ragrelay.planning.plan import ANSWERS
from ragrelay.planning.plan import plan_jobs as plan_as_given
from ragrelay.planning.work import Job

SHARE_OF_RUNTIME = 0.7
"""Share of a job's time limit that a planned job may take, its start included."""
MOST = 1000
"""Largest number of shards of a dataset that the key allows."""


@dataclass(frozen=True)
class AutoShards:
    """A dataset and a generator whose number of shards the plan chooses."""

    dataset: str
    generator: str
    shards: int
    """The present number."""
    planned: bool
    """Whether an earlier plan chose it."""
    begun: bool
    """Whether a job has already finished with it."""


def plan_generation(
    jobs: Sequence[Job],
    planned: Mapping[str, GeneratorPlan],
    seeds: Sequence[int],
    auto: Sequence[AutoShards],
    limit: int | None,
) -> tuple[pl.DataFrame, dict[str, dict[str, int]], list[str]]:
    """Plan ``jobs`` as planning.plan does, with numbers of shards chosen for ``auto``.

    ``limit``: minutes of a job that generates answers; None if the profile sets none. Returns the plan, the numbers by
    dataset and generator, and a line on each. A number that nothing decides (no limit, no known speed) is left out, so
    that a later plan can choose it.
    """
    table = plan_as_given(jobs, planned, seeds)
    numbers: dict[str, dict[str, int]] = {}
    notes = []
    for split in auto:
        number, reason = _number(split, table, planned[split.generator], limit)
        notes.append(f"Shards (auto) of {split.dataset}, {split.generator}: {number or split.shards}, {reason}.")
        if number:
            numbers.setdefault(split.dataset, {})[split.generator] = number
    new = [_with(job, numbers) for job in jobs]
    if [job.shards for job in new] != [job.shards for job in jobs]:
        table = plan_as_given(new, planned, seeds)
    return table, numbers, notes


def _with(job: Job, numbers: Mapping[str, Mapping[str, int]]) -> Job:
    number = numbers.get(job.dataset, {}).get(job.generator) if job.rule in ANSWERS else None
    return replace(job, shards=number) if number else job


def _number(auto: AutoShards, table: pl.DataFrame, planned: GeneratorPlan, limit: int | None) -> tuple[int | None, str]:
    """Return the number of shards, or None if nothing decides it, and the reason."""
    rows = table.filter(pl.col("job").is_in(ANSWERS), dataset=auto.dataset, generator=auto.generator)
    price = planned.price("answers")
    if auto.begun or (auto.planned and rows["cached"].sum()):
        return auto.shards, "as before, since answers exist"
    earlier = auto.shards if auto.planned else None
    if limit is None:
        return earlier, "as the profile sets no runtime"
    if not price.gpus:
        return 1, "as an endpoint's time is not known"
    if rows["gpu_hours"].has_nulls():
        return earlier, "as no speed is known (the generator's key tokens_per_second)"
    aim, start = SHARE_OF_RUNTIME * limit * 60, price.start_seconds
    seconds = pl.col("gpu_hours") * 3600 / price.gpus - pl.col("engine_starts") * start
    longest = rows.select(seconds.max()).item()
    if start >= aim:
        return earlier, f"as an engine's start takes ~{start:,.0f} s, longer than {SHARE_OF_RUNTIME} of the runtime"
    queries = rows.filter(job="generate_answers")["prompts"].max() or MOST
    number = max(1, min(math.ceil(longest / (aim - start)), queries, MOST))
    each = (longest / number + start) / 60
    return number, f"with which a job takes ~{each:,.1f} min of {limit} (the aim is at most {SHARE_OF_RUNTIME} of it)"
