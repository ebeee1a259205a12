"""Context use in the plan: exact for answers that are made, at most so many for those still to come."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.generation.likelihoods.job import missing_of, scorings_of
from ragrelay.prompting.layout import zeroshot_prompts
from ragrelay.questions.context_use.requests import AnswerScores

from tests.support.asking import work as work_of
from tests.unit.generation.test_generation_job import TEMPLATE, FakeEngine, Job


@pytest.fixture
def small(tmp_path: Path, generator: dict[str, Any]) -> Job:
    return Job(tmp_path, generator)


def test_before_and_after_the_answers(small: Job) -> None:
    folder = small.folder / "d/prompts" / small.generator["prompt"]
    paths = tuple(folder / name for name in ("one/k1.parquet", "zeroshot/k0.parquet"))
    for path, frame in zip(
        paths, (pl.read_parquet(small.folder / "k1.parquet"), zeroshot_prompts(small.queries, TEMPLATE)), strict=True
    ):
        path.parent.mkdir(parents=True)
        frame.write_parquet(path)
    files = {"prompts": [paths[0]], "zeroshot_prompts": [paths[1]]}

    def planned() -> GeneratorPlan:
        return GeneratorPlan(small.generator, "fp", TEMPLATE, small.folder / "cache", threads=1)

    before = work_of("score_context_use", [(files, {}, {})], {"lm": planned()}, [1, 2])
    assert len(before) == 4 * 2 * 2 and not before["certain"].any() and not before["cached"].any()
    assert before["requests"].sum() == 16

    small.run(FakeEngine(), small.asked(ks=(1,), seeds=(1,)))
    generators = planned()
    halfway = work_of("score_context_use", [(files, {}, {})], {"lm": generators}, [1, 2])
    assert halfway.group_by("certain").len().sort("certain").rows() == [(False, 8), (True, 8)]
    of_prompts = pl.concat(pl.read_parquet(path) for path in paths)
    lengths = {name: len(text.encode()) + 1 for name, text in of_prompts.select("prompt_id", "prompt").iter_rows()}
    to_come = halfway.filter(~pl.col("certain"))
    assert to_come["prompt_tokens"].to_list() == [lengths[name] + 2 for name in to_come["prompt_id"]], "answers of 2"

    small.run(FakeEngine(), small.asked(ks=(1,)))
    work = work_of("score_context_use", [(files, {}, {})], {"lm": planned()}, [1, 2])
    made = generators.store.look_up(small.asked(ks=(1,))).join(
        pl.read_parquet(paths[0]).select("qid", "prompt_id"), on="prompt_id"
    )
    scores = AnswerScores(made, pl.read_parquet(paths[0]), pl.read_parquet(paths[1]), small.generator)
    _, missing = missing_of(scores.asked(), generators.likelihoods)
    requests = list(scorings_of(missing, small.generator, 512))
    assert work["certain"].all() and (len(work), work["requests"].sum()) == (len(missing), len(requests))
    assert work["prompt_tokens"].sum() == sum(len(request.given) for request in requests)
