"""Dry runs of large grids: the workflow against a bare one of the same jobs and files.

    python benchmarks/dag.py --out dag.json
    python benchmarks/dag.py --files 5400 54000 --out dag.json

The bare one (bare/Snakefile) has a rule with literal files per job that the workflow plans, and nothing else; the
workflow also checks its configuration, hashes models and code, finds files by patterns and gives jobs their params.
"""

import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.shared import pairs, record
from benchmarks.shared.jobs import DRY_RUN, planned_jobs, write_bare_workflow
from benchmarks.shared.workflow import Cost, link_workflow, run, write_overlay

ORDERINGS = ["descending", "ascending", "random", "best_at_ends", "best_in_middle"]
RETRIEVERS = ["bm25", "dense", "rel", "nrel"]
# Datasets, orderings and generators of the grids; the retrievers, k = 1..15 and 5 seeds are the same in all.
GRIDS = {5_400: (2, 3, 3), 54_000: (4, 5, 9)}


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


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[min(GRIDS)], choices=GRIDS, help="answer files")
    parser.add_argument("--rounds", type=int, default=3, help="of the smallest grid; of others as many as take as long")
    given = parser.parse_args()
    figures: dict[str, record.Figure] = {}
    for files in given.files:
        jobs: dict[str, int] = {}
        costs: dict[str, list[Cost]] = {}
        with tempfile.TemporaryDirectory() as name:
            folders = prepare(Path(name), overlay(*GRIDS[files]))
            candidates = {folder.name: partial(dry_run, folder, jobs, costs) for folder in folders}
            seconds = pairs.alternating(candidates, max(1, given.rounds * min(GRIDS) // files))
        if jobs["ours"] != jobs["bare"]:
            raise ValueError(f"bare workflow: found {jobs['bare']} jobs; expected the workflow's {jobs['ours']}")
        cpu = {name: [cost.cpu_seconds for cost in found] for name, found in costs.items()}
        memory = {name: pairs.median([cost.peak_mib for cost in found]) for name, found in costs.items()}
        figures |= {
            f"{files:,} files: jobs": record.figure(jobs["ours"]),
            f"{files:,} files: dry run, workflow": record.figure(pairs.median(seconds["ours"]), "s"),
            f"{files:,} files: dry run, bare": record.figure(pairs.median(seconds["bare"]), "s"),
            f"{files:,} files: seconds over bare": pairs.ratio(seconds, "ours", "bare", "<= 1.2"),
            f"{files:,} files: CPU seconds over bare": pairs.ratio(cpu, "ours", "bare"),
            f"{files:,} files: peak memory, workflow": record.figure(memory["ours"], "MiB"),
            f"{files:,} files: peak memory over bare": record.figure(
                memory["ours"] / memory["bare"], "x", goal="<= 1.3"
            ),
        }
    setting = f"dry run of the whole study from nothing, {given.rounds} rounds of the smallest grid"
    record.write_record(given, setting, figures, ["snakemake"])


if __name__ == "__main__":
    main()
