"""Look up 200,000 keys in a synthetic answer store of 2 million answers, in few large and in many small parts.

    python benchmarks/store_lookup.py --out store_lookup.json

Each look in a process of its own; columns of values per token are null. The files have just been written, so that the
disk's own speed is not in it. System calls count as read: each part is hashed, and its columns are read again.
"""

import argparse
import hashlib
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from ragrelay.generation.store import SCHEMA, THOUGHT, TOKEN_SCORES, AnswerStore

from benchmarks.shared import record

SEEDS = 5
WORDS_PER_ANSWER = 150
LOOKS = {
    "first job, which indexes all parts": ("held", False),
    "finding the stored keys": ("held", False),
    "reading the stored keys' rows": ("look_up", False),
    "reading the rows of keys stored one after another": ("look_up", True),
}


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--answers", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[200, 5000])
    given = parser.parse_args()
    figures = {}
    for parts in given.parts:
        with tempfile.TemporaryDirectory() as folder:
            figures[f"{parts:,} parts: size of the store"] = record.figure(
                fill(folder, given.answers, parts) >> 20, "MiB"
            )
            for words, (method, together) in LOOKS.items():
                seconds, cpu, before, peak, mib = measured(method, folder, given, together)
                figures[f"{parts:,} parts, {words}: data read"] = record.figure(mib, "MiB")
                figures[f"{parts:,} parts, {words}: wall time"] = record.figure(seconds, "s")
                figures[f"{parts:,} parts, {words}: CPU time"] = record.figure(cpu, "s")
                figures[f"{parts:,} parts, {words}: peak memory"] = record.figure(peak, "MiB")
                figures[f"{parts:,} parts, {words}: memory before the look-up"] = record.figure(before, "MiB")
    setting = (
        f"looking up {given.keys:,} keys, 90% of which are stored, in a store with {given.answers:,} answers "
        f"of {WORDS_PER_ANSWER} words"
    )
    record.write_record(given, setting, figures, ["polars", "pyarrow"])


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
            "logprob": -np.abs(chance.normal(200, 50, n)),
            "dropped_passages": np.zeros(n, dtype=np.int64),
            **{name: [None] * n for name in (*TOKEN_SCORES, *THOUGHT)},
        }
        store.add(pl.DataFrame(columns, schema=SCHEMA), {"engine": "synthetic"})
    return sum(part.stat().st_size for part in store.folder.iterdir())


def prompt_id(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def measured(method: str, folder: str, asked: argparse.Namespace, together: bool) -> tuple[float, ...]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_measured, method, folder, asked.answers, asked.keys, together).result()


def _measured(method: str, folder: str, answers: int, keys: int, together: bool) -> tuple[float, ...]:
    """Wall and CPU seconds, MiB before and at the peak, MiB read; nine in ten keys are held, spread or ``together``."""
    held = np.random.default_rng(1).choice(answers, keys * 9 // 10, replace=False)
    if together:
        held = np.arange(len(held)) + (answers - len(held)) // 2
    pairs = [(prompt_id(number // SEEDS), number % SEEDS + 1) for number in held.tolist()]
    pairs += [(f"new {number}", 1) for number in range(keys - len(pairs))]
    wanted = pl.DataFrame(pairs, schema=["prompt_id", "seed"], orient="row")
    before, read = peak_mib(), read_mib()
    seconds, cpu, rows = timed(lambda: getattr(AnswerStore(folder, "synthetic"), method)(wanted))
    if rows != len(held):
        raise AssertionError(f"{method} found {rows} of {len(held)} keys")
    return seconds, cpu, before, peak_mib(), read_mib() - read


def timed(call: Callable[[], pl.DataFrame]) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and rows of ``call``."""
    wall, cpu = time.perf_counter(), time.process_time()
    rows = len(call())
    return time.perf_counter() - wall, time.process_time() - cpu, rows


def read_mib() -> float:
    """MiB that this process has read with system calls, from files and their cache in memory."""
    return int(Path("/proc/self/io").read_text().split()[1]) / (1 << 20)


def peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


if __name__ == "__main__":
    main()
