"""The real engine: an answer depends on its prompt and seed alone, whatever else is in the batch.

On CPU it does so as it is, on a GPU with the generator's key ``batch_invariant``.
"""

import json
import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.store import TOKEN_SCORES

from tests.support.sandbox import CORES, ROOT, Sandbox

Rows = dict[tuple[str, int], tuple[Any, ...]]


def answers(results: Path, generator: dict[str, Any]) -> list[Rows]:
    """Answers of the study's prompts by one engine that forgets prefixes, as several kinds of jobs ask for them.

    In prefix order; shuffled; in two shards, at most two requests in the batch; a killed job and what it left.
    """
    from ragrelay.generation.engine import VllmEngine
    from ragrelay.generation.requests import asked_keys, requests_of, window_of
    from ragrelay.prompting.layout import Layout
    from ragrelay.prompting.templates import load_template

    prompts = results / "small/prompts/tian2025"
    files = [prompts / "zeroshot/none/k0.parquet", *sorted(prompts.glob("*/descending/k*.parquet"))]
    window = window_of(generator)
    layout = Layout(
        load_template(ROOT / "config/prompts/tian2025.yaml"), results / "small/collection/queries.parquet", {}
    )

    def asked(shard: int, shards: int) -> list[Any]:
        return list(requests_of(asked_keys({"bm25": files}, [1, 2], shard, shards), generator, window, layout))

    whole = asked(0, 1)
    shuffled = random.Random(1).sample(whole, len(whole))
    killed = set(random.Random(2).sample(range(len(whole)), len(whole) // 3))
    left = [request for place, request in enumerate(whole) if place not in killed]
    engine = VllmEngine(generator, window, threads=CORES)
    made = []
    for parts, batch in (
        ([whole], 256), ([shuffled], 256), ([asked(0, 2), asked(1, 2)], 1), ([[whole[i] for i in killed], left], 256),
    ):  # fmt: skip
        engine.generator = {**generator, "max_num_seqs": batch}
        rows = []
        for part in parts:
            rows += engine.answers(iter(part))
            engine._engine.reset_prefix_cache()
        values = ("answer", "finish_reason", "answer_tokens", "logprob", *TOKEN_SCORES)
        made.append({(row["prompt_id"], row["seed"]): tuple(row[value] for value in values) for row in rows})
    return made


@pytest.mark.full
@pytest.mark.parametrize("batch_invariant", [False, True])
def test_answers_do_not_depend_on_the_batch(finished: Sandbox, batch_invariant: bool) -> None:
    """They are equal byte for byte; split attention on CPU moved log-probabilities of about a quarter of them."""
    import torch
    from ragrelay.generation.engine import check_batch_invariance

    generator = json.loads((finished.results / "report/provenance.json").read_text())["config"]["generators"]["demo-lm"]
    generator |= {"model": str(ROOT / generator["model"]), "batch_invariant": batch_invariant}
    if batch_invariant:
        try:
            check_batch_invariance()
        except InputError as error:
            pytest.skip(str(error))
        generator["dtype"] = "bfloat16"
    elif torch.cuda.is_available():
        pytest.skip("on a GPU answers depend on the batch without the key batch_invariant")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        reference, *others = pool.submit(answers, finished.results, generator).result()
    assert len(reference) > 50 and len(others) == 3
    for other in others:
        assert other == reference
    if not batch_invariant:
        assert_views_equal({key: row[:4] for key, row in reference.items()}, finished.results)


def assert_views_equal(made: Rows, results: Path) -> None:
    """The study's answer files, which came through the store, hold what the engine says when asked directly."""
    folder = results / "small/answers/demo-lm"
    files = [*folder.glob("*/descending/k*/*.parquet"), *folder.glob("zeroshot/none/k0/*.parquet")]
    rows = pl.concat(pl.read_parquet(path) for path in files)
    values = rows.select("prompt_id", "seed", "answer", "finish_reason", "answer_tokens", "logprob").iter_rows()
    assert {(prompt_id, seed): tuple(rest) for prompt_id, seed, *rest in values} == made
