"""Time, memory and GPU-hours of jobs, from Snakemake's benchmark files, next to what was requested and planned."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.display.printed_tables import printed

TIME_MARGIN, MEMORY_MARGIN = 1.5, 1.3
"""Margins of the proposal: factors for the longest job, and for the job with the most memory."""
LEAST_MINUTES, LEAST_MB = 10, 2000
SHOWN = {
    "gpu_hours": "GPU-hours",
    "planned": "planned GPU-hours",
    "longest": "longest (min)",
    "asked_runtime": "asked (min)",
    "memory": "memory (MB)",
    "asked_mem_mb": "asked (MB)",
}
"""Columns that are shown under other names; columns without a value are left out."""
TYPES = {
    **dict.fromkeys(("gpu_hours", "planned"), pl.Float64),
    **dict.fromkeys(("asked_runtime", "memory", "asked_mem_mb"), pl.Int64),
}


@dataclass(frozen=True)
class Benchmarks:
    """Where the figures of a study are, and what its jobs are given."""

    folder: str
    """Folder of the benchmark files, with a folder per rule."""
    plan: str = ""
    """The table of the last plan."""
    asked: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each rule, `runtime` (minutes) and `mem_mb` of a job's first attempt, if the profile sets them."""
    gpus: Mapping[str, int] = field(default_factory=dict)
    """GPUs of jobs with an engine, by the path of the benchmark file below ``folder``, or of a folder that it is in."""


def jobs_used(benchmarks: Benchmarks) -> pl.DataFrame:
    """A row per rule that has benchmarks, of each job as it ran last.

    - jobs, hours: number of jobs, and their time together
    - gpu_hours: the same of rules with an engine, times its GPUs; planned: what the last plan expected of the rule
    - asked_runtime, asked_mem_mb: minutes and MB that the profile gives a job
    - longest: minutes of the longest
    - memory: MB of the one that had the most at a time (resident); null where no job ran long enough to be looked at
    - runtime, mem_mb: minutes and MB to ask for, by the margins, rounded up to tens and hundreds
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
    """GPU-hours by rule; zero-shot answers are among the others, as in the benchmark files."""
    if not plan.is_file():
        return {}
    rule = pl.col("job").str.replace("_zeroshot", "")
    rows = pl.read_csv(plan, schema_overrides={"gpu_hours_estimate": pl.Float64}).filter(pl.col("dataset") != "total")
    sums = rows.drop_nulls("gpu_hours_estimate").group_by(rule).agg(pl.col("gpu_hours_estimate").sum())
    return dict(sums.iter_rows())


def _row(rule: str, jobs: list[_Job], asked: Mapping[str, int], planned: float | None) -> dict[str, object]:
    longest = max(job.seconds for job in jobs) / 60
    memory = max((job.memory for job in jobs if job.memory is not None), default=None)
    of_gpus = [job.seconds * job.gpus for job in jobs if job.gpus is not None]
    return {
        "rule": rule,
        "jobs": len(jobs),
        "hours": round(sum(job.seconds for job in jobs) / 3600, 2),
        "gpu_hours": round(sum(of_gpus) / 3600, 2) if of_gpus else None,
        "planned": None if planned is None else round(planned, 2),
        "longest": round(longest, 1),
        "asked_runtime": asked.get("runtime"),
        "memory": None if memory is None else round(memory),
        "asked_mem_mb": asked.get("mem_mb"),
        "runtime": max(LEAST_MINUTES, math.ceil(longest * TIME_MARGIN / 10) * 10),
        "mem_mb": None if memory is None else max(LEAST_MB, math.ceil(memory * MEMORY_MARGIN / 100) * 100),
    }


def show_used(table: pl.DataFrame) -> str:
    """Lines for a terminal: what jobs used, and lines for a profile; empty if none has run."""
    if table.is_empty():
        return ""
    took = table.select("rule", "jobs", "hours", *(pl.col(name).alias(shown) for name, shown in SHOWN.items()))
    took = took.select(name for name in took.columns if took[name].count())
    lines = ["", "What jobs took, as each ran last (jobs that found all in the cache are short):", printed(took), ""]
    lines += [f"For a profile, {TIME_MARGIN} times the longest and {MEMORY_MARGIN} times the most memory:"]
    lines += ["set-resources:"]
    for row in table.iter_rows(named=True):
        lines += [f"  {row['rule']}:", f"    runtime: attempt * {row['runtime']}"]
        lines += [f"    mem_mb: attempt * {row['mem_mb']}"] if row["mem_mb"] else []
    return "\n".join(lines)
