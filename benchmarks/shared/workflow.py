"""A folder with links to the workflow's parts, in which a study is run without touching the checkout."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "rules", "workflow", "config", "profiles", "envs", "resources")


class Cost(NamedTuple):
    """What a process took: seconds by the clock and of the CPU, and its peak memory, or its largest child's."""

    seconds: float
    cpu_seconds: float
    peak_mib: float


def link_workflow(folder: Path) -> None:
    """Make ``folder`` one to start Snakemake in."""
    for part in PARTS:
        (folder / part).symlink_to(ROOT / part)


def write_overlay(folder: Path, overlay: dict[str, Any]) -> None:
    """Write the study's configuration, ``overlay.yaml``."""
    (folder / "overlay.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")


def snakemake(folder: Path, *arguments: str) -> Cost:
    """Run Snakemake in ``folder`` with the overlay, quietly; raises with the end of its output where it fails."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--configfile", "overlay.yaml"]
    return run(command, folder)[0]


def run(command: Sequence[str], folder: Path) -> tuple[Cost, str]:
    """Run ``command`` in ``folder``: its cost and all it printed."""
    printed = folder / "printed.txt"
    environment = {**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}
    with printed.open("w") as file:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    output = printed.read_text(encoding="utf-8")
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{output[-4000:]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output
