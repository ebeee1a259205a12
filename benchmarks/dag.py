"""Dry runs of large grids: the workflow against an equal bare Snakefile (bare/Snakefile).

    python benchmarks/dag.py --out dag.json

Both have the same jobs and files, and start from nothing. The bare one has patterns and lists alone; the workflow also
checks its configuration, hashes models and code, and gives jobs their params.
"""

import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.shared import pairs, record
from benchmarks.shared.workflow import ROOT, Cost, link_workflow, run, write_overlay

ORDERINGS = ["descending", "ascending", "random", "best_at_ends", "best_in_middle"]
RETRIEVERS = ["bm25", "dense", "rel", "nrel"]
# Datasets, orderings and generators of the grids; the retrievers, k = 1..15 and 5 seeds are the same in all.
GRIDS = {5_400: (2, 3, 3), 54_000: (4, 5, 9)}
JOBS_APART = 0.05


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
    """Folders to start the workflow and the bare Snakefile in."""
    ours, bare = folder / "ours", folder / "bare"
    ours.mkdir(parents=True)
    link_workflow(ours)
    write_overlay(ours, study)
    (bare / "resources").mkdir(parents=True)
    for name in ("passages.jsonl", "queries.tsv", "qrels.txt", "page.html.j2", "page.css", "page.js"):
        (bare / "resources" / name).touch()
    (bare / "Snakefile").symlink_to(ROOT / "benchmarks/bare/Snakefile")
    (bare / "profiles").symlink_to(ROOT / "profiles")
    write_overlay(bare, study["grid"])
    return ours, bare


def dry_run(folder: Path, jobs: dict[str, int], costs: dict[str, list[Cost]]) -> float:
    """Wall-clock seconds of a dry run in ``folder``."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "2", "--configfile", "overlay.yaml"]
    cost, output = run(command, folder)
    total = re.search(r"^total +(\d+)$", output, re.MULTILINE)
    jobs[folder.name] = int(total[1]) if total else 0
    costs.setdefault(folder.name, []).append(cost)
    return cost.seconds


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=list(GRIDS), choices=GRIDS, help="answer files")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    figures: dict[str, record.Figure] = {}
    for files in given.files:
        jobs: dict[str, int] = {}
        costs: dict[str, list[Cost]] = {}
        with tempfile.TemporaryDirectory() as name:
            folders = prepare(Path(name), overlay(*GRIDS[files]))
            candidates = {folder.name: partial(dry_run, folder, jobs, costs) for folder in folders}
            seconds = pairs.alternating(candidates, given.rounds)
        if abs(jobs["ours"] - jobs["bare"]) > JOBS_APART * jobs["ours"]:
            raise ValueError(f"bare/Snakefile: found {jobs['bare']} jobs; expected the workflow's {jobs['ours']}")
        relative = pairs.ratios(seconds, "ours", "bare")
        memory = {name: pairs.median([cost.peak_mib for cost in found]) for name, found in costs.items()}
        figures |= {
            f"{files:,} files: jobs of the workflow": record.figure(jobs["ours"]),
            f"{files:,} files: jobs of the bare Snakefile": record.figure(jobs["bare"]),
            f"{files:,} files: dry run, workflow": record.figure(pairs.median(seconds["ours"]), "s"),
            f"{files:,} files: dry run, bare": record.figure(pairs.median(seconds["bare"]), "s"),
            f"{files:,} files: seconds over bare": record.figure(
                pairs.median(relative), "x", goal="<= 1.3", spread=relative
            ),
            f"{files:,} files: peak memory, workflow": record.figure(memory["ours"], "MiB"),
            f"{files:,} files: peak memory over bare": record.figure(
                memory["ours"] / memory["bare"], "x", goal="<= 1.3"
            ),
        }
    setting = f"dry run of the whole study from nothing, {given.rounds} rounds"
    record.write_record(given, setting, figures, ["snakemake"])


if __name__ == "__main__":
    main()
