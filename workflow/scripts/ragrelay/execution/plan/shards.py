"""Choose the number of query shards for `shards: auto` from the plan and a job's time limit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.plan import ANSWERS, NAMES
from ragrelay.execution.plan.plan import plan_jobs as plan_as_given
from ragrelay.execution.plan.work import Job

SHARE_OF_RUNTIME = 0.7
"""The share of its time limit that a planned job may use, including its start."""
LONG_HOURS = 1.0
"""The plan suggests more shards if a job takes at least this many hours."""
MOST = 1000
"""Maximum number of shards per dataset that the key allows."""


@dataclass(frozen=True)
class AutoShards:
    """A dataset and generator for which the plan chooses the number of shards."""

    dataset: str
    generator: str
    shards: int
    """The current number of shards."""
    planned: bool
    """Whether an earlier plan chose the current number."""
    begun: bool
    """Whether any job has already finished with the current number."""


def plan_generation(
    jobs: Sequence[Job],
    planned: Mapping[str, GeneratorPlan],
    seeds: Sequence[int],
    auto: Sequence[AutoShards],
    limit: int | None,
    at_once: int | None = None,
    missing: dict[str, int] | None = None,
) -> tuple[pl.DataFrame, dict[str, dict[str, int]], list[str]]:
    """Plan ``jobs`` (see plan.plan_jobs), and choose the number of shards for each item in ``auto``.

    ``limit``: a generation job's time limit in minutes, or None if the profile sets no limit. ``at_once``: the maximum
    number of jobs that the profile submits at once, or None if jobs run on this machine. ``missing``: see plan_jobs.
    Returns the plan, the numbers of shards by dataset and generator, and lines that explain these numbers and point out
    fixed numbers that are too small for the profile. If the limit or the speed is unknown, a later plan chooses the
    number.
    """
    table = plan_as_given(jobs, planned, seeds, missing)
    numbers: dict[str, dict[str, int]] = {}
    notes = []
    for split in auto:
        queries = next(_queries(job) for job in jobs if _is_of(job, split.dataset, split.generator))
        number, reason = _number(split, table, planned[split.generator], limit, queries)
        notes.append(f"Shards (auto) of {split.dataset}, {split.generator}: {number or split.shards}, {reason}.")
        if number:
            numbers.setdefault(split.dataset, {})[split.generator] = number
    new = [_with(job, numbers) for job in jobs]
    if [job.shards for job in new] != [job.shards for job in jobs]:
        if missing is not None:
            missing.clear()
        table = plan_as_given(new, planned, seeds, missing)
    chosen = {(split.dataset, split.generator) for split in auto}
    given = [job for job in new if job.rule in ANSWERS and (job.dataset, job.generator) not in chosen]
    return table, numbers, [*notes, *filter(None, (_too_few(job, table, planned, at_once) for job in given))]


def _too_few(job: Job, table: pl.DataFrame, planned: Mapping[str, GeneratorPlan], at_once: int | None) -> str:
    """Return a line if more shards would make long jobs end sooner, otherwise an empty string."""
    names = dict(zip(NAMES, (job.dataset, job.generator, job.retriever, job.rule), strict=True))
    [row] = table.filter(**names).iter_rows(named=True)
    gpus = planned[job.generator].price("answers").gpus
    if at_once is None or job.shards >= at_once or not gpus or not row["gpu_hours"]:
        return ""
    hours = row["gpu_hours"] / gpus / job.shards
    if hours < LONG_HOURS:
        return ""
    each = f"{job.shards} at a time take ~{hours:,.1f} h each" if job.shards > 1 else f"one job takes ~{hours:,.1f} h"
    more = f"the profile allows {at_once}: raise the dataset's shards, or set shards: auto"
    return f"Shards of {job.dataset}, {job.generator}: {each}, and {more}."


def _is_of(job: Job, dataset: str, generator: str) -> bool:
    return job.rule in ANSWERS and (job.dataset, job.generator) == (dataset, generator)


def _queries(job: Job) -> int:
    return int(pl.scan_parquet(job.paths("queries", dataset=job.dataset)).select(pl.len()).collect().item())


def _with(job: Job, numbers: Mapping[str, Mapping[str, int]]) -> Job:
    number = numbers.get(job.dataset, {}).get(job.generator) if job.rule in ANSWERS else None
    return replace(job, shards=number) if number else job


def _number(
    auto: AutoShards, table: pl.DataFrame, planned: GeneratorPlan, limit: int | None, queries: int
) -> tuple[int | None, str]:
    """Return the number of shards, or None if it can't be determined, and the reason."""
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
    number = max(1, min(math.ceil(longest / (aim - start)), queries, MOST))
    each = (longest / number + start) / 60
    return number, f"with which a job takes ~{each:,.1f} min of {limit} (the aim is at most {SHARE_OF_RUNTIME} of it)"
