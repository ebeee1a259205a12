"""Look up 200,000 keys in a synthetic answer store of 2 million answers, in few large and in many small parts.

Prints one JSON object: per number of parts, seconds and peak memory of `held` (which keys are there) and of `look_up`
(their rows), each in a process of its own. The files have just been written, so that the disk's own speed is not in it.
"""

import argparse
import hashlib
import json
import multiprocessing
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from ragrelay.files import write_json
from ragrelay.generation.store import SCHEMA, AnswerStore

SEEDS = 5
WORDS_PER_ANSWER = 150


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="file for the JSON object; printed in any case")
    parser.add_argument("--answers", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[200, 5000])
    asked = parser.parse_args()
    figures = []
    for parts in asked.parts:
        with tempfile.TemporaryDirectory() as folder:
            size = fill(folder, asked.answers, parts)
            figure = {"parts": parts, "answers": asked.answers, "keys": asked.keys, "store_mib": size >> 20}
            figures.append(figure | measured("held", folder, asked) | measured("look_up", folder, asked))
    result = {
        "name": "store_lookup",
        "figures": figures,
        "versions": {name: version(name) for name in ("polars", "pyarrow")} | {"python": platform.python_version()},
        "command": " ".join(["python", "benchmarks/store_lookup.py", *sys.argv[1:]]),
    }
    print(json.dumps(result, indent=2))
    if asked.out:
        write_json(result, asked.out)


def fill(folder: str, answers: int, parts: int) -> int:
    """Write a store of ``answers`` answers in ``parts`` parts; returns its bytes."""
    store, chance = AnswerStore(folder, "synthetic"), np.random.default_rng(0)
    words = np.array([f"{word:x}" for word in chance.integers(16, 1 << 24, 50_000)])
    places = np.minimum(chance.zipf(1.3, (20_000, WORDS_PER_ANSWER)), len(words)) - 1
    texts = np.array([" ".join(row) for row in words[places]], dtype=object)
    for numbers in np.array_split(np.arange(answers), parts):
        n = len(numbers)
        prompts = [prompt_id(number) for number in range(numbers[0] // SEEDS, numbers[-1] // SEEDS + 1)]
        columns = {
            "prompt_id": [prompts[number // SEEDS - numbers[0] // SEEDS] for number in numbers],
            "seed": numbers % SEEDS + 1,
            "answer": texts[chance.integers(0, len(texts), n)] + numbers.astype(str),
            "finish_reason": ["stop"] * n,
            **{name: chance.integers(1, 900, n) for name in ("prompt_tokens", "cached_tokens", "answer_tokens")},
            "logprob": chance.normal(-200, 50, n),
            "dropped_passages": np.zeros(n, dtype=np.int64),
        }
        store.add(pl.DataFrame(columns, schema=SCHEMA), {"engine": "synthetic"})
    return sum(part.stat().st_size for part in store.folder.iterdir())


def prompt_id(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def measured(method: str, folder: str, asked: argparse.Namespace) -> dict[str, Any]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_measured, method, folder, asked.answers, asked.keys).result()


def _measured(method: str, folder: str, answers: int, keys: int) -> dict[str, Any]:
    """Nine in ten keys are in the store, spread over all of it."""
    chance = np.random.default_rng(1)
    held = chance.choice(answers, keys * 9 // 10, replace=False)
    pairs = [(prompt_id(number // SEEDS), number % SEEDS + 1) for number in held.tolist()]
    pairs += [(f"new {number}", 1) for number in range(keys - len(pairs))]
    wanted = pl.DataFrame(pairs, schema=["prompt_id", "seed"], orient="row")
    before, (seconds, cpu, rows) = peak_mib(), timed(lambda: getattr(AnswerStore(folder, "synthetic"), method)(wanted))
    if rows != len(held):
        raise AssertionError(f"{method} found {rows} of {len(held)} keys")
    return {
        f"{method}_seconds": round(seconds, 2),
        f"{method}_cpu_seconds": round(cpu, 2),
        f"{method}_peak_mib": peak_mib(),
        f"{method}_mib_before": before,
    }


def timed(call: Callable[[], pl.DataFrame]) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and rows of ``call``."""
    wall, cpu = time.perf_counter(), time.process_time()
    rows = len(call())
    return time.perf_counter() - wall, time.process_time() - cpu, rows


def peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
