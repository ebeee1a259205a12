"""The real engine: an answer depends on its prompt and seed alone, whatever else is in the batch."""

import json
import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from tests.support.sandbox import CORES, ROOT, Sandbox

Rows = dict[tuple[str, int], tuple[str, str, int, float]]


def answers(results: Path, generator: dict[str, Any], orders: int) -> list[Rows]:
    """Answers of the study's prompts in prefix order, then in shuffled orders, by one engine that forgets prefixes."""
    from ragrelay.generation.engine import VllmEngine
    from ragrelay.generation.requests import asked_keys, tokenised, window_of
    from ragrelay.prompting.templates import load_template
    from ragrelay.prompting.truncation import Layout

    prompts = results / "small/prompts/tian2025"
    files = [prompts / "zeroshot/none/k0.parquet", *sorted(prompts.glob("*/descending/k*.parquet"))]
    window = window_of(generator)
    layout = Layout(
        load_template(ROOT / "config/prompts/tian2025.yaml"), results / "small/collection/queries.parquet", None
    )
    requests = list(tokenised(asked_keys(files, [1, 2], 0, 1), generator, window, layout))
    engine = VllmEngine(generator, window, threads=CORES)
    made = []
    for order in range(orders):
        if order:
            random.Random(order).shuffle(requests)
        rows = engine.answers(iter(requests))
        values = ("answer", "finish_reason", "answer_tokens", "logprob")
        made.append({(row["prompt_id"], row["seed"]): tuple(row[value] for value in values) for row in rows})
        engine._engine.reset_prefix_cache()
    return made


def test_answers_do_not_depend_on_the_batch(finished: Sandbox) -> None:
    """Byte for byte on CPU; with split attention, log-probabilities of about a quarter of the answers moved."""
    generator = json.loads((finished.results / "report/provenance.json").read_text())["config"]["generators"]["demo-lm"]
    generator["model"] = str(ROOT / generator["model"])
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        reference, *others = pool.submit(answers, finished.results, generator, 3).result()
    assert len(reference) > 50
    for other in others:
        assert other == reference
    assert_views_equal(reference, finished.results)


def assert_views_equal(made: Rows, results: Path) -> None:
    """The study's answer files, which came through the store, hold what the engine says when asked directly."""
    folder = results / "small/answers/demo-lm"
    files = [*folder.glob("*/descending/k*/*.parquet"), *folder.glob("zeroshot/none/k0/*.parquet")]
    rows = pl.concat(pl.read_parquet(path) for path in files)
    values = rows.select("prompt_id", "seed", "answer", "finish_reason", "answer_tokens", "logprob").iter_rows()
    assert {(prompt_id, seed): tuple(rest) for prompt_id, seed, *rest in values} == made
