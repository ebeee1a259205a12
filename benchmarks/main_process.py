"""What Snakemake's main process takes while jobs wait: with its own timers, and with the workflow's patch.

    python benchmarks/main_process.py --out main_process.json

Runs of 120 and 500 jobs of 0.2 s, two at a time; their shells are counted, too. Then a run on a stand-in for a cluster
(waiting/) with the limit of profiles/slurm: 50 jobs have ended, 50 run for a minute, 50 wait. With ``--slurm``, on the
tests' SLURM instead (root, its packages), where each job starts Python and Snakemake: 16 have ended, 8 run for a
minute, 50 wait. In a look at jobs of the workflow Snakemake also computes their params and looks up their inputs, which
these jobs don't have.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.shared import pairs, record
from benchmarks.shared.workflow import ROOT, run
from tests.support.cluster import Cluster

QUICK = (120, 500)
SECONDS = 60
CLUSTER = {"quick": 50, "slow": 50, "waiting": 50}
ON_SLURM = {"quick": 16, "slow": 8, "waiting": 50}
SLURM = (
    "--executor", "slurm", "--jobs", "8", "--latency-wait", "10", "--slurm-init-seconds-before-status-checks", "5",
    "--slurm-status-command", "squeue",
    "--default-resources", "slurm_partition=cpu", "slurm_account=bench", "runtime=10", "mem_mb=1000",
)  # fmt: skip
SIDES = {"unpatched": False, "patched": True}
Spent = dict[str, float]
SPENT = {
    "threads": ("number of threads", ""), "looks": ("number of job status checks", ""),
    "CPU seconds": ("CPU time", "s"), "seconds": ("wall time", "s"),
}  # fmt: skip
"""Label and unit, by what waiting/Snakefile or this file measures."""


def spent(jobs: Mapping[str, int], options: tuple[str, ...], patched: bool) -> Spent:
    """What a run of ``jobs`` by kind took; ``seconds`` are those of the clock, from Snakemake's start to its end."""
    config: dict[str, Any] = {"jobs": jobs, "seconds": SECONDS, "patched": patched}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in (ROOT / "benchmarks/waiting").iterdir():
            (folder / source.name).symlink_to(source)
        config["package"] = str(ROOT / "workflow/scripts")
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        # With -m, Python and Snakemake find the plugin in the folder.
        command = [sys.executable, "-m", "snakemake", *options, "--configfile", "config.json", "--quiet", "all"]
        cost, _ = run(command, folder)
        found: Spent = json.loads((folder / "main_process.json").read_text(encoding="utf-8"))
    return {**found, "seconds": cost.seconds}


def compared(jobs: Mapping[str, int], options: tuple[str, ...], rounds: int) -> dict[str, record.Figure]:
    """Figures of both sides in turn."""
    found: dict[str, list[Spent]] = {side: [] for side in SIDES}

    def turn(side: str) -> float:
        found[side].append(spent(jobs, options, SIDES[side]))
        return found[side][-1]["CPU seconds"]

    cpu = pairs.alternating({side: partial(turn, side) for side in SIDES}, rounds)
    figures: dict[str, record.Figure] = {
        "CPU time, patched ÷ unpatched": pairs.ratio(cpu, "patched", "unpatched", "<= 1")
    }
    for what, (label, unit) in SPENT.items():
        for side in SIDES:
            rows = [one[what] for one in found[side]]
            figures[f"{label}, {side}"] = record.figure(pairs.median(rows), unit, spread=rows)
    return figures


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--slurm", action="store_true")
    given = parser.parse_args()
    figures: dict[str, record.Figure] = {}
    if given.slurm:
        cluster = Cluster("bench")
        try:
            cluster.start()
            os.environ |= cluster.environment
            found = compared(ON_SLURM, SLURM, given.rounds)
        finally:
            cluster.stop()
        figures |= {f"SLURM, 50 waiting jobs: {label}": one for label, one in found.items()}
        setting = f"Snakemake's main process, from the first job to the last, on SLURM; rounds: {given.rounds}"
        record.write_record(given, setting, figures, ["snakemake", "snakemake-executor-plugin-slurm"])
        return
    for number in QUICK:
        found = compared({"quick": number}, ("--cores", "2"), given.rounds)
        figures |= {f"{number} quick jobs: {label}": one for label, one in found.items()}
    found = compared(CLUSTER, ("--executor", "waiting", "--jobs", "50"), given.rounds)
    figures |= {f"50 waiting jobs: {label}": one for label, one in found.items()}
    setting = (
        f"Snakemake's main process, from the first job to the last, {given.rounds} rounds; jobs of 0.2 s, two at a "
        f"time; on a simulated cluster, 50 jobs that run for {SECONDS} s while 50 others wait"
    )
    record.write_record(given, setting, figures, ["snakemake"])


if __name__ == "__main__":
    main()
