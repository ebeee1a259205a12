"""Measure a study of the size of MS MARCO's dev queries through the whole workflow, and how each stage grows.

    python benchmarks/study_scale.py --out study_scale.json

6,980 queries x 5 retrievers x 2 orderings x 5 k x 3 seeds, a million answers plus the zero-shot ones, and before it
half the queries. Queries, passages, run files and answers are drawn, and the scorer is token F1, so that everything but
models is measured: contexts, prompts, look-up and answer files, score tables, utility, 10,000 resamples, figures and
page. Each stage is a run of Snakemake on two cores. Its seconds contain the starts of its jobs; its peak is that of its
largest job.
"""

import tempfile
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.shared import record
from benchmarks.shared.synthetic import fill_store, write_collection
from benchmarks.shared.workflow import Cost, link_workflow, snakemake, write_overlay

RUNS = {"poor": 0.1, "weak": 0.3, "middling": 0.5, "fair": 0.8, "good": 0.95}
RESULTS = Path("results/scale")


class Study(NamedTuple):
    """What a study cost, by stage, and wrote: counts of rows, and MiB of the page and of the report's largest file."""

    costs: dict[str, Cost]
    distinct: int
    cells: int
    page: float
    largest: float


def measured(queries: int, ks: list[int], seeds: list[int]) -> Study:
    """Run the study with ``queries`` queries, stage by stage, in a folder of its own."""
    overlay = {
        "study": "scale",
        "grid": {
            "datasets": ["drawn"], "retrievers": list(RUNS), "orderings": ["descending", "ascending"], "k": ks,
            "seeds": seeds, "scorers": ["token_f1"],
        },
        "datasets": {"drawn": {"source": "local", "path": "drawn", "references": {"relevant": 1}}},
        "retrievers": {name: {"kind": "run", "path": f"drawn/{name}.run"} for name in RUNS},
        "analysis": {"reference_retriever": "good"},
        "scorers": {"token_f1": {"kind": "token_f1", "references": "judged"}},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        link_workflow(folder)
        write_collection(folder / "drawn", queries, RUNS)
        write_overlay(folder, overlay)
        costs = {"contexts and prompts": snakemake(folder, "all_prompts")}
        distinct = fill_store(folder, overlay, sorted(folder.glob(f"{RESULTS}/drawn/prompts/**/*.parquet")), seeds)
        costs["looking up answers and writing their files"] = snakemake(folder, "all_answers")
        costs["score tables"] = snakemake(folder, "all_scores")
        analysis = RESULTS / "drawn/analysis/token_f1/demo-lm"
        utility = RESULTS / "drawn/utility/token_f1/demo-lm.parquet"
        costs["utility"] = snakemake(folder, str(utility))
        costs["analysis with 10,000 resamples"] = snakemake(folder, f"{analysis}/correlation.csv")
        costs["variance, figures and page"] = snakemake(folder, "report")
        cells = pl.scan_parquet(folder / utility).select(pl.len()).collect().item()
        page = (folder / RESULTS / "report/index.html").stat().st_size / 2**20
        written = (path for path in (folder / RESULTS / "report").rglob("*") if path.is_file())
        return Study(costs, distinct, cells, page, max(path.stat().st_size for path in written) / 2**20)


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 2, 3, 5, 10])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    seeds = list(range(1, given.seeds + 1))
    half, whole = (measured(queries, given.k, seeds) for queries in (given.queries // 2, given.queries))
    figures = {
        "answers in the grid": record.figure(given.queries * len(RUNS) * 2 * len(given.k) * given.seeds),
        "distinct answers in the store, including zero-shot answers": record.figure(whole.distinct),
        "rows in the utility file": record.figure(whole.cells),
    }
    for stage, cost in whole.costs.items():
        goal = "<= 120" if stage.startswith("analysis") else ""
        figures[f"{stage}: wall time"] = record.figure(cost.seconds, "s", goal)
        figures[f"{stage}: CPU time"] = record.figure(cost.cpu_seconds, "s")
        figures[f"{stage}: peak memory of a job"] = record.figure(cost.peak_mib / 1024, "GiB", "<= 4")
        before = half.costs[stage]
        figures[f"{stage}: wall time ÷ wall time with half the queries"] = record.figure(
            cost.seconds / before.seconds, "x", "<= 2.1"
        )
        figures[f"{stage}: CPU time ÷ CPU time with half the queries"] = record.figure(
            cost.cpu_seconds / before.cpu_seconds, "x"
        )
        figures[f"{stage}: peak memory ÷ peak memory with half the queries"] = record.figure(
            cost.peak_mib / before.peak_mib, "x"
        )
    figures["size of the page"] = record.figure(whole.page, "MiB", "<= 10")
    figures["size of the report's largest file"] = record.figure(whole.largest, "MiB")
    grid = f"{len(RUNS)} retrievers, 2 orderings, {given.seeds} seeds, k = {', '.join(map(str, given.k))}"
    setting = f"{given.queries:,} queries, {grid}; token F1"
    record.write_record(given, setting, figures, ["snakemake", "polars", "numpy", "scipy"])


if __name__ == "__main__":
    main()
