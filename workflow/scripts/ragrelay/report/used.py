"""Compare the time, memory and GPU-hours in Snakemake's benchmarks with the requested and the planned resources."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.base.display.printed_tables import printed

TIME_MARGIN, MEMORY_MARGIN = 1.5, 1.3
"""The factors by which the proposed profile exceeds the longest job's time and the largest job's memory."""
LEAST_MINUTES, LEAST_MB = 10, 2000
SHOWN = {
    "gpu_hours": "GPU-hours",
    "planned": "planned GPU-hours",
    "longest": "longest (min)",
    "asked_runtime": "requested (min)",
    "memory": "memory (MB)",
    "asked_mem_mb": "requested (MB)",
}
"""The headings of the columns to show; columns without a value are left out."""
TYPES = {
    **dict.fromkeys(("gpu_hours", "planned"), pl.Float64),
    **dict.fromkeys(("asked_runtime", "memory", "asked_mem_mb"), pl.Int64),
}  # fmt: skip


@dataclass(frozen=True)
class Benchmarks:
    """The locations of a study's benchmark files and plan, and the resources that jobs request."""

    folder: str
    """The folder of the benchmark files, with one folder per rule."""
    plan: str = ""
    """The last plan's table."""
    asked: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """`runtime` (minutes) and `mem_mb` of a job's first attempt, by rule, if the profile sets them."""
    gpus: Mapping[str, int] = field(default_factory=dict)
    """GPUs of jobs with an engine, by the path below ``folder`` of the benchmark file, or of a folder above it."""


def jobs_used(benchmarks: Benchmarks) -> pl.DataFrame:
    """Return a table of the resources used by jobs in the last run, with a row per rule.

    - jobs, hours: number of jobs and their total time
    - gpu_hours: total time × GPUs, for rules with an engine; planned: GPU-hours estimated in the last plan
    - asked_runtime, asked_mem_mb: time (minutes) and memory (MB) that the profile requests for a job
    - longest: time of the longest job (minutes)
    - memory: largest resident memory of a job (MB); null if no job ran long enough to be measured
    - runtime, mem_mb: proposed requests, which include a margin and are rounded up
    """
    folder, planned = Path(benchmarks.folder), _planned(Path(benchmarks.plan))
    rows: dict[str, list[_Job]] = {}
    for path in sorted(folder.glob("*/**/*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                memory = row["max_rss"]
                used = float(memory) if memory.replace(".", "", 1).isdigit() else None
                name = path.relative_to(folder)
                within = (benchmarks.gpus.get(str(place)) for place in (name, *name.parents))
                gpus = next((number for number in within if number is not None), None)
                rows.setdefault(name.parts[0], []).append(_Job(float(row["s"]), used, gpus))
    table = [_row(rule, jobs, benchmarks.asked.get(rule, {}), planned.get(rule)) for rule, jobs in rows.items()]
    return pl.DataFrame(table, schema_overrides=TYPES)


class _Job(NamedTuple):
    seconds: float
    memory: float | None
    gpus: int | None


def _planned(plan: Path) -> dict[str, float]:
    """Return the planned GPU-hours by rule."""
    if not plan.is_file():
        return {}
    rows = pl.read_csv(plan, schema_overrides={"gpu_hours_estimate": pl.Float64}).filter(pl.col("dataset") != "total")
    sums = rows.drop_nulls("gpu_hours_estimate").group_by("job").agg(pl.col("gpu_hours_estimate").sum())
    return dict(sums.iter_rows())


def _row(rule: str, jobs: list[_Job], asked: Mapping[str, int], planned: float | None) -> dict[str, object]:
    longest = max(job.seconds for job in jobs) / 60
    memory = max((job.memory for job in jobs if job.memory is not None), default=None)
    gpu_seconds = [job.seconds * job.gpus for job in jobs if job.gpus is not None]
    return {
        "rule": rule,
        "jobs": len(jobs),
        "hours": _hours(sum(job.seconds for job in jobs)),
        "gpu_hours": _hours(sum(gpu_seconds)) if gpu_seconds else None,
        "planned": None if planned is None else round(planned, 2),
        "longest": round(longest, 1),
        "asked_runtime": asked.get("runtime"),
        "memory": None if memory is None else round(memory),
        "asked_mem_mb": asked.get("mem_mb"),
        "runtime": max(LEAST_MINUTES, math.ceil(longest * TIME_MARGIN / 10) * 10),
        "mem_mb": None if memory is None else max(LEAST_MB, math.ceil(memory * MEMORY_MARGIN / 100) * 100),
    }


def _hours(seconds: float) -> float:
    """Round hours to two decimals, or to two significant digits if less than one hour."""
    hours = seconds / 3600
    return round(hours, 2) if hours >= 1 else float(f"{hours:.2g}")


def show_used(table: pl.DataFrame, by_rule: Mapping[str, Mapping[str, float]]) -> str:
    """Return lines for the terminal: a table of used resources, and proposed entries for the profile.

    ``by_rule``: each rule's GPU-hours, including failed attempts.
    """
    hours = [f"{rule} {counts['gpu_hours']:,.2f}" for rule, counts in by_rule.items() if counts["gpu_hours"]]
    of_all = [f"GPU-hours of all attempts, including failed attempts: {', '.join(hours)}"] if hours else []
    if table.is_empty():
        return "\n".join(of_all)
    used = table.select("rule", "jobs", "hours", *(pl.col(name).alias(shown) for name, shown in SHOWN.items()))
    used = used.select(name for name in used.columns if used[name].count())
    lines = ["", "Resources that jobs used in their last run (jobs that found everything in the cache are short):"]
    lines += [printed(used), *of_all, ""]
    lines += [f"Proposed profile ({TIME_MARGIN} × the longest time, {MEMORY_MARGIN} × the largest memory):"]
    lines += ["set-resources:"]
    for row in table.iter_rows(named=True):
        lines += [f"  {row['rule']}:", f"    runtime: attempt * {row['runtime']}"]
        lines += [f"    mem_mb: attempt * {row['mem_mb']}"] if row["mem_mb"] else []
    return "\n".join(lines)
