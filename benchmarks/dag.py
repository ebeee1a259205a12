"""Dry runs of large grids, from nothing and with nothing to do: the workflow against a bare one of the same jobs.

    python benchmarks/dag.py --out dag.json
    python benchmarks/dag.py --cells 1500 15000 150000 --operations --out dag.json

The bare one (bare/Snakefile) has a rule with literal files per job that the workflow plans, and nothing else; the
workflow also checks its configuration, hashes models and code, finds files by patterns and gives jobs their params.
With nothing to do, every output is an empty file that `--touch` has recorded. Operations are system calls that name a
file, by strace: on a network file system each may take a millisecond.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.shared import pairs, record
from benchmarks.shared.jobs import DRY_RUN, planned_jobs, write_bare_workflow
from benchmarks.shared.workflow import Cost, link_workflow, run, write_overlay

ORDERINGS = ["descending", "ascending", "random", "best_at_ends", "best_in_middle"]
RETRIEVERS = ["bm25", "dense", "rel", "nrel"]
# Datasets, orderings and generators of the grids; the retrievers, k = 1..15 and 5 seeds are the same in all.
GRIDS = {1_500: (1, 5, 1), 15_000: (2, 5, 5), 150_000: (10, 5, 10)}
TOUCH = [argument for argument in DRY_RUN if argument != "--dry-run"] + ["--touch", "--forceall"]
STRACE = ["strace", "--follow-forks", "--summary-only", "--trace=%file", "--output=operations.txt"]
STATES = ("dry run", "nothing to do")


def overlay(datasets: int, orderings: int, generators: int) -> dict[str, Any]:
    """A study of the grid's size, on the demo's collection and model under several names."""
    collection = {"source": "local", "path": "resources/demo/collection", "references": {"lenient": 2, "strict": 3}}
    model = {"model": "resources/demo/model", "prompt": "tian2025"}
    return {
        "study": "grid",
        "grid": {
            "datasets": [f"d{place}" for place in range(datasets)],
            "retrievers": RETRIEVERS,
            "orderings": ORDERINGS[:orderings],
            "k": list(range(1, 16)),
            "seeds": [1, 2, 3, 4, 5],
            "generators": [f"g{place}" for place in range(generators)],
        },
        "datasets": {f"d{place}": collection for place in range(datasets)},
        "generators": {f"g{place}": {**model, "max_tokens": 100 + place} for place in range(generators)},
    }


def prepare(folder: Path, study: dict[str, Any]) -> tuple[Path, Path]:
    """Folders to start the workflow and its bare twin in."""
    ours, bare = folder / "ours", folder / "bare"
    ours.mkdir()
    bare.mkdir()
    link_workflow(ours)
    write_overlay(ours, study)
    write_bare_workflow(planned_jobs(ours), bare)
    return ours, bare


def dry_run(folder: Path, jobs: dict[str, int], costs: dict[str, list[Cost]]) -> float:
    """Wall-clock seconds of a dry run in ``folder``."""
    cost, output = run(DRY_RUN, folder)
    total = re.search(r"^total +(\d+)$", output, re.MULTILINE)
    jobs[folder.name] = int(total[1]) if total else 0
    costs.setdefault(folder.name, []).append(cost)
    return cost.seconds


def finish(folder: Path, jobs: Iterable[Mapping[str, Any]]) -> None:
    """Make the outputs of ``jobs`` empty files, or folders, and have Snakemake record them."""
    for path in (folder / path for job in jobs for path in job["output"]):
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.touch if path.suffix or folder.name == "bare" else path.mkdir)(exist_ok=True)
    run(TOUCH, folder)


def operations(folder: Path) -> int:
    """System calls that name a file in a dry run in ``folder``."""
    run([*STRACE, *DRY_RUN], folder)
    [total] = re.findall(r"(\d+)(?: +\d+)? total$", (folder / "operations.txt").read_text(), re.MULTILINE)
    return int(total)


def figures_of(cells: int, rounds: int, count: bool) -> dict[str, record.Figure]:
    """Figures of a grid of ``cells``, in both STATES; ``count``: of operations too."""
    figures: dict[str, record.Figure] = {}
    with tempfile.TemporaryDirectory() as name:
        folders = prepare(Path(name), overlay(*GRIDS[cells]))
        listed = json.loads((folders[1] / "jobs.json").read_text(encoding="utf-8"))
        for state, most in zip(STATES, ("<= 1.2", "<= 1.3"), strict=True):
            jobs: dict[str, int] = {}
            costs: dict[str, list[Cost]] = {}
            if state == STATES[1]:
                for folder in folders:
                    finish(folder, listed)
            candidates = {folder.name: partial(dry_run, folder, jobs, costs) for folder in folders}
            seconds = pairs.alternating(candidates, rounds)
            if state == STATES[0] and jobs["ours"] != jobs["bare"]:
                raise ValueError(f"bare workflow: found {jobs['bare']} jobs; expected the workflow's {jobs['ours']}")
            cpu = {name: [cost.cpu_seconds for cost in found] for name, found in costs.items()}
            memory = {name: pairs.median([cost.peak_mib for cost in found]) for name, found in costs.items()}
            start = f"{cells:,} cells, {state}"
            figures |= {f"{cells:,} cells: number of jobs": record.figure(jobs["ours"])} if state == STATES[0] else {}
            figures |= {
                f"{start}: time, ragrelay": record.figure(pairs.median(seconds["ours"]), "s"),
                f"{start}: time, bare Snakemake": record.figure(pairs.median(seconds["bare"]), "s"),
                f"{start}: time, ragrelay ÷ bare Snakemake": pairs.ratio(seconds, "ours", "bare", most),
                f"{start}: CPU time, ragrelay ÷ bare Snakemake": pairs.ratio(cpu, "ours", "bare"),
                f"{start}: peak memory, ragrelay": record.figure(memory["ours"], "MiB"),
                f"{start}: peak memory, ragrelay ÷ bare Snakemake": record.figure(
                    memory["ours"] / memory["bare"], "x", goal="<= 1.3"
                ),
            }
            for folder in folders if count else ():
                of = "ragrelay" if folder.name == "ours" else "bare Snakemake"
                figures[f"{start}: file operations, {of}"] = record.figure(operations(folder))
    return figures


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[min(GRIDS)], choices=GRIDS, help="answers per query")
    parser.add_argument("--rounds", type=int, default=3, help="of the smallest grid; at least one of each other")
    parser.add_argument("--operations", action="store_true", help="count operations on files too, with strace")
    given = parser.parse_args()
    figures: dict[str, record.Figure] = {}
    for cells in given.cells:
        figures |= figures_of(cells, max(1, given.rounds * min(GRIDS) // cells), given.operations)
    setting = f"dry runs of a complete study; {given.rounds} rounds with the grid of {min(GRIDS):,} cells"
    record.write_record(given, setting, figures, ["snakemake"])


if __name__ == "__main__":
    main()
