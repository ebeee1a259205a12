"""Score a study of the size of MS MARCO's dev queries by a scorer with a model, in one job and in eight.

    python benchmarks/scoring_shards.py --out scoring_shards.json

6,980 queries x 5 retrievers x 2 orderings x 5 k x 3 seeds, a million answers plus the zero-shot ones, drawn as for
study_scale.py. The scorer is BERTScore with a tiny encoder of random weights, so that what is measured is all but the
encoding: to read answers, split texts into tokens, compare, fill the store and write the tables. Two cores.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import transformers

from benchmarks.shared import record
from benchmarks.shared.synthetic import WORDS, fill_store, write_collection
from benchmarks.shared.workflow import Cost, link_workflow, snakemake, write_overlay

RUNS = {"poor": 0.1, "weak": 0.3, "middling": 0.5, "fair": 0.8, "good": 0.95}
SHARDS = (1, 8)
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_encoder(folder: Path) -> None:
    """Write a BERT of two layers and 32 dimensions, whose vocabulary is that of the drawn texts."""
    vocabulary = {word: place for place, word in enumerate([*PIECES, *map(str, WORDS)])}
    transformers.BertTokenizer(vocab=vocabulary, model_max_length=128).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=128,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)


def measured(queries: int, ks: list[int], seeds: list[int]) -> tuple[dict[int, Cost], int]:
    """Return what scoring cost by number of jobs, and the number of distinct answers."""
    overlay: dict[str, Any] = {
        "study": "scale",
        "grid": {
            "datasets": ["drawn"], "retrievers": list(RUNS), "orderings": ["descending", "ascending"], "k": ks,
            "seeds": seeds, "scorers": ["tiny"],
        },
        "datasets": {"drawn": {"source": "local", "path": "drawn", "references": {"relevant": 1}}},
        "retrievers": {name: {"kind": "run", "path": f"drawn/{name}.run"} for name in RUNS},
        "analysis": {"reference_retriever": "good"},
        "scorers": {"tiny": {"kind": "bertscore", "model": "encoder/tiny", "layer": 2}},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder, costs = Path(name), {}
        link_workflow(folder)
        write_collection(folder / "drawn", queries, RUNS)
        write_encoder(folder / "encoder/tiny")
        write_overlay(folder, overlay)
        snakemake(folder, "all_prompts")
        distinct = fill_store(folder, overlay, sorted(folder.glob("results/scale/drawn/prompts/**/*.parquet")), seeds)
        for shards in SHARDS:
            overlay["datasets"]["drawn"]["shards"] = shards
            write_overlay(folder, overlay)
            snakemake(folder, "all_answers")
            for made in ("cache/scores", "results/scale/drawn/scores", "results/scale/drawn/scored"):
                shutil.rmtree(folder / made, ignore_errors=True)
            costs[shards] = snakemake(folder, "all_scores")
        return costs, distinct


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 2, 3, 5, 10])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    costs, distinct = measured(given.queries, given.k, list(range(1, given.seeds + 1)))
    figures = {"distinct answers in the store, including zero-shot answers": record.figure(distinct)}
    for shards, cost in costs.items():
        jobs = f"{shards} job{'s' if shards > 1 else ''}"
        figures[f"{jobs}: wall time"] = record.figure(cost.seconds, "s")
        figures[f"{jobs}: CPU time"] = record.figure(cost.cpu_seconds, "s")
        figures[f"{jobs}: peak memory of a job"] = record.figure(cost.peak_mib / 1024, "GiB", "<= 4")
    ratio = costs[8].seconds / costs[1].seconds
    figures["wall time: 8 jobs ÷ 1 job"] = record.figure(ratio, "x", "<= 1")
    grid = f"{len(RUNS)} retrievers, 2 orderings, {given.seeds} seeds, k = {', '.join(map(str, given.k))}"
    record.write_record(
        given, f"{given.queries:,} queries, {grid}; BERTScore with a tiny encoder", figures, ["snakemake", "polars"]
    )


if __name__ == "__main__":
    main()
