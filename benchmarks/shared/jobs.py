"""The jobs of a dry run, as Snakemake prints them, made into a bare workflow of the same jobs and files."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.shared.workflow import ROOT, run

DRY_RUN = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "2", "--configfile", "overlay.yaml"]


def planned_jobs(folder: Path) -> list[dict[str, Any]]:
    """Name, input and output of every job that a dry run in ``folder`` plans; the target's job comes first."""
    heads = folder / "heads.smk"
    shutil.copy(ROOT / "Snakefile", heads)
    with heads.open("a", encoding="utf-8") as file:
        file.write("\nfor each in workflow.rules:\n    each.message = None\n")
    # Without the profile and the workflow's own messages, which keep Snakemake from printing jobs with their files.
    _, printed = run([*DRY_RUN, "--workflow-profile", "none", "--snakefile", heads.name], folder)
    jobs: list[dict[str, Any]] = []
    for line in printed.splitlines():
        if found := re.fullmatch(r"(?:local)?rule (\w+):", line):
            jobs.append({"name": f"{found[1]}_{len(jobs)}", "input": [], "output": []})
        elif found := re.fullmatch(r"    (input|output): (.+)", line):
            jobs[-1][found[1]] = found[2].split(", ")
    if not jobs:
        raise ValueError(f"dry run in {folder}: found no job in what was printed; expected the workflow's")
    return sorted(jobs, key=lambda job: bool(job["output"]))


def write_bare_workflow(jobs: list[dict[str, Any]], folder: Path) -> None:
    """A folder to start Snakemake in, with ``jobs`` as rules and empty files for what no job makes."""
    made = {path for job in jobs for path in job["output"]}
    for path in {path for job in jobs for path in job["input"]} - made:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    (folder / "Snakefile").symlink_to(ROOT / "benchmarks/bare/Snakefile")
    (folder / "profiles").symlink_to(ROOT / "profiles")
    (folder / "overlay.yaml").write_text("{}\n", encoding="utf-8")
