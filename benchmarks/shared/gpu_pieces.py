"""The pieces of benchmarks/gpu.py that run models without a workflow around them."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import torch
from ragrelay.generation.engine import VllmEngine, check_batch_invariance
from ragrelay.generation.generator import Request
from ragrelay.generation.requests import asked_keys, requests_of, window_of
from ragrelay.prompting.layout import Layout, kshot_prompts
from ragrelay.prompting.templates import load_template
from ragrelay.scoring.encoder import Encoder

from benchmarks.bertscore import largest_difference, ours, synthesise, theirs
from benchmarks.generation import run_ours, run_raw, start_ours, start_raw
from benchmarks.shared import pairs, record
from benchmarks.shared.record import Figure
from benchmarks.shared.synthetic import WORDS
from benchmarks.shared.workers import Worker
from benchmarks.shared.workflow import ROOT

K, SEEDS = 5, range(1, 6)
PASSAGE, QUERY = 60, 6  # words
HALF = {"gpu_memory_utilization": 0.44}  # two engines on one GPU
EVERY = 50  # of so many answers one is scored by a call of its own


def generation(
    generator: Mapping[str, Any], prompts: int, rounds: int, on_gpu: bool, seconds: float
) -> dict[str, Figure]:
    """A generation job over LLM.generate, k = 5 with 5 seeds: the same prompts, in turns."""
    shared = {**generator, **(HALF if on_gpu else {})}
    with TemporaryDirectory() as name:
        asked, layout = drawn_prompts(Path(name), prompts)
        requests = list(requests_of(asked, generator, window_of(generator), layout))
        given = [(request.token_ids, request.seed) for request in requests]
        job, raw = Worker(start_ours, shared), Worker(start_raw, shared)
        candidates = {
            "ours": lambda: job.run(run_ours, shared, asked, layout)[0],
            "raw": lambda: raw.run(run_raw, shared, given)[0],
        }
        pairs.alternating(candidates, 1)
        found = pairs.alternating(candidates, rounds)
        rows = job.run(answer, requests)
        job.stop()
        raw.stop()
    made = sum(row["answer_tokens"] for row in rows)
    hits = sum(row["cached_tokens"] for row in rows) / sum(row["prompt_tokens"] for row in rows)
    return {
        "throughput: generation job ÷ `LLM.generate`": pairs.ratio(found, "raw", "ours", ">= 0.95"),
        "k = 5, 5 seeds: throughput of the generation job": record.figure(
            made / pairs.median(found["ours"]), "answer tokens/s"
        ),
        "k = 5, 5 seeds: share of prompt tokens from the prefix cache": record.figure(hits),
    }


def ceiling(
    generator: Mapping[str, Any],
    requests: int,
    into: int,
    out: int,
    published: Mapping[tuple[int, int], int],
    seconds: float,
) -> dict[str, Figure]:
    """Answer tokens per second of the workflow's engine at a published shape: drawn prompts that share nothing."""
    exact = {**generator, "max_tokens": out, "min_tokens": out, "stop": []}
    draw = Random(0)
    asked = [Request(str(number), 1, tuple(draw.randrange(3, 6000) for _ in range(into))) for number in range(requests)]
    worker = Worker(start_ours, exact)
    worker.run(answer, asked[:8])
    began = time.perf_counter()
    rows = worker.run(answer, asked)
    took = time.perf_counter() - began
    worker.stop()
    rate = sum(row["answer_tokens"] for row in rows) / took
    label = f"{into} tokens in, {out} out: answer tokens per second"
    figures = {label: record.figure(rate, "/s")}
    if (into, out) in published:
        best = published[into, out]
        figures[f"{label} ÷ TensorRT-LLM's {best:,} on an H200"] = record.figure(rate / best)
    return figures


def bertscore(encoder: Path, layer: int, answers: int, rounds: int, work: Path, seconds: float) -> dict[str, Figure]:
    """BERTScore in float32 and bfloat16 against bert-score in one batched call, and in a call per answer."""
    from bert_score import BERTScorer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tasks = synthesise(max(1, answers // 15), answers)
    some = [task.answers[::EVERY] for task in tasks]
    scorer = BERTScorer(model_type=str(encoder), num_layers=layer, device=device)
    scores: dict[str, Any] = {}
    clock = time.perf_counter

    def cold(key: str, dtype: str) -> float:
        with TemporaryDirectory(dir=work) as empty:
            keys = {"model": str(encoder), "layer": layer, "device": device, "dtype": dtype}
            took, scores[key] = ours(tasks, Path(empty), 1, clock, **keys)
        return took

    def batched() -> None:
        scores["batched"] = theirs(scorer, tasks)

    def calls() -> float:
        began = clock()
        for task, chosen in zip(tasks, some, strict=True):
            for one in chosen:
                theirs(scorer, [type(task)([one], task.references)])
        return (clock() - began) * sum(len(task.answers) for task in tasks) / sum(map(len, some))

    candidates: dict[str, Callable[[], float | None]] = {
        "float32": partial(cold, "float32", "float32"),
        "bfloat16": partial(cold, "bfloat16", "bfloat16"),
        "batched": batched,
        "calls": calls,
    }
    cold("float32", "float32")
    found = pairs.alternating(candidates, rounds)
    best = zip(scores["float32"], scores["batched"], strict=True)
    change = max(float(abs(one.f1.max(axis=1) - other.f1.max(axis=1)).max()) for one, other in best)
    return {
        "BERTScore: time, bert-score (one batched call) ÷ ragrelay": pairs.ratio(found, "batched", "float32", ">= 10"),
        "BERTScore: time, bert-score (one batched call) ÷ ragrelay in bfloat16": pairs.ratio(
            found, "batched", "bfloat16", ">= 10"
        ),
        "BERTScore: time, bert-score (one call per answer, extrapolated) ÷ ragrelay": pairs.ratio(
            found, "calls", "float32"
        ),
        "BERTScore: number of pairs": record.figure(sum(one.f1.size for one in scores["float32"])),
        "BERTScore: time, ragrelay": record.figure(pairs.median(found["float32"]), "s"),
        "BERTScore: share of ragrelay's time spent on the linear layers' matrix products": record.figure(
            products(encoder, layer, device, [text for task in tasks for text in [*task.answers, *task.references]])
            / pairs.median(found["float32"])
        ),
        "BERTScore: largest difference in an answer's best F1 from bert-score with padded batches": record.figure(
            change
        ),
        "BERTScore: largest change in a score with bfloat16 instead of float32": record.figure(
            largest_difference(scores["float32"], scores["bfloat16"])
        ),
    }


def products(model: Path, layer: int, device: str, texts: Sequence[str]) -> float:
    """Seconds of the products of an encoder's linear layers in float32 for the tokens of the distinct ``texts``."""
    encoder = Encoder({"model": str(model), "layer": layer, "device": device})
    tokens = sum(map(len, encoder.tokenise(list(dict.fromkeys(texts)))))
    linear = [module for module in encoder.model.encoder.modules() if isinstance(module, torch.nn.Linear)]

    def done() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    with torch.inference_mode():
        states = {module.in_features: torch.randn(tokens, module.in_features, device=device) for module in linear}
        for _ in range(2):  # the first to warm up
            began = done()
            for module in linear:
                for rows in states[module.in_features].split(encoder.batch_tokens):
                    torch.mm(rows, module.weight.T)
            took = done() - began
    return took


def batch_invariance(generator: Mapping[str, Any], prompts: int, on_gpu: bool, seconds: float) -> dict[str, Figure]:
    """The price of the key ``batch_invariant``, and what share of answers another order leaves as they are, with it.

    On CPU, which has no such switch, only the share without it.
    """
    if on_gpu:
        check_batch_invariance()
    with TemporaryDirectory() as name:
        asked, layout = drawn_prompts(Path(name), prompts)
        requests = list(requests_of(asked, generator, window_of(generator), layout))
    took, equal = {}, {}
    for on in (False, True)[: 1 + on_gpu]:
        worker = Worker(start_ours, {**generator, "batch_invariant": on})
        worker.run(answer, requests[:8])
        began = time.perf_counter()
        rows = worker.run(answer, requests)
        took[on] = time.perf_counter() - began
        shuffled = worker.run(answer, Random(1).sample(requests, len(requests)))
        texts = [{(row["prompt_id"], row["seed"]): row["answer"] for row in one} for one in (rows, shuffled)]
        equal[on] = sum(texts[0][key] == texts[1][key] for key in texts[0]) / len(texts[0])
        worker.stop()
    without = {
        "without batch invariance: share of answers that are the same in another order": record.figure(equal[False])
    }
    if not on_gpu:
        return without
    return without | {
        "time: with ÷ without batch invariance": record.figure(took[True] / took[False]),
        "with batch invariance: share of answers that are the same in another order": record.figure(
            equal[True], goal=">= 1"
        ),
    }


def answer(engine: VllmEngine, requests: list[Request]) -> list[dict[str, Any]]:
    """The rows of ``requests``; the engine forgets its prefixes after them."""
    rows = list(engine.answers(iter(requests)))
    engine._engine.reset_prefix_cache()
    return rows


def drawn_prompts(folder: Path, prompts: int) -> tuple[pl.DataFrame, Layout]:
    """The keys of a job with drawn contexts of K passages and SEEDS, in prefix order."""
    draw = Random(0)

    def text(words: int) -> str:
        return " ".join(str(draw.choice(WORDS)) for _ in range(words))

    qids = [str(number) for number in range(prompts)]
    queries = pl.DataFrame({"qid": qids, "query": [text(QUERY) for _ in qids]})
    passages = pl.DataFrame(
        [(qid, rank, f"{qid}-{rank}", text(PASSAGE)) for qid in qids for rank in range(1, K + 1)],
        schema=["qid", "rank", "docno", "text"],
        orient="row",
    )
    template = load_template(ROOT / "config/prompts/tian2025.yaml")
    kshot_prompts(queries, passages, template, "descending", K).write_parquet(folder / "prompts.parquet")
    queries.write_parquet(folder / "queries.parquet")
    passages.write_parquet(folder / "passages.parquet")
    layout = Layout(template, folder / "queries.parquet", {"bm25": folder / "passages.parquet"})
    return asked_keys({"bm25": [folder / "prompts.parquet"]}, list(SEEDS)), layout
