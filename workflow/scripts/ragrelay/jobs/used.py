"""Time and memory that jobs took, from Snakemake's benchmark files, and what a profile could ask for."""

import csv
import math
from pathlib import Path

import polars as pl

from ragrelay.display.printed_tables import printed

TIME_MARGIN, MEMORY_MARGIN = 1.5, 1.3
"""What is proposed: so many times the longest job, and the one with the most memory."""
LEAST_MINUTES, LEAST_MB = 10, 2000


def jobs_used(folder: Path) -> pl.DataFrame:
    """A row per rule that has benchmarks in ``folder``, of each job as it ran last.

    - jobs, hours: number of jobs, and their time together
    - longest: minutes of the longest
    - memory: MB of the one that had the most at a time (resident); null where no job ran long enough to be looked at
    - runtime, mem_mb: minutes and MB to ask for, by the margins, rounded up to tens and hundreds
    """
    rows: dict[str, list[tuple[float, float | None]]] = {}
    for path in sorted(folder.glob("*/**/*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                memory = row["max_rss"]
                used = float(memory) if memory.replace(".", "", 1).isdigit() else None
                rows.setdefault(path.relative_to(folder).parts[0], []).append((float(row["s"]), used))
    return pl.DataFrame([_row(rule, jobs) for rule, jobs in rows.items()])


def _row(rule: str, jobs: list[tuple[float, float | None]]) -> dict[str, object]:
    longest = max(seconds for seconds, _ in jobs) / 60
    memory = max((used for _, used in jobs if used is not None), default=None)
    return {
        "rule": rule,
        "jobs": len(jobs),
        "hours": round(sum(seconds for seconds, _ in jobs) / 3600, 2),
        "longest": round(longest, 1),
        "memory": None if memory is None else round(memory),
        "runtime": max(LEAST_MINUTES, math.ceil(longest * TIME_MARGIN / 10) * 10),
        "mem_mb": None if memory is None else max(LEAST_MB, math.ceil(memory * MEMORY_MARGIN / 100) * 100),
    }


def show_used(table: pl.DataFrame) -> str:
    """Lines for a terminal: what jobs took, and lines for a profile; empty where none has run."""
    if table.is_empty():
        return ""
    took = table.select(
        "rule", "jobs", "hours", pl.col("longest").alias("longest (min)"), pl.col("memory").alias("memory (MB)")
    )
    lines = ["", "What jobs took, as each ran last (jobs that found all in the cache are short):", printed(took), ""]
    lines += [f"For a profile, {TIME_MARGIN} times the longest and {MEMORY_MARGIN} times the most memory:"]
    lines += ["set-resources:"]
    for row in table.iter_rows(named=True):
        lines += [f"  {row['rule']}:", f"    runtime: attempt * {row['runtime']}"]
        lines += [f"    mem_mb: attempt * {row['mem_mb']}"] if row["mem_mb"] else []
    return "\n".join(lines)
