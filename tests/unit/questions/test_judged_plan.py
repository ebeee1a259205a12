"""Judged answers in the plan: as many questions as the job asks of answers that are made, and of those to come."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.plan import plan_jobs
from ragrelay.execution.plan.table import printed_table
from ragrelay.execution.plan.work import Job
from ragrelay.prompting.templates import Template

from tests.support.asking import asked as ask
from tests.support.asking import work
from tests.unit.questions.test_judged_answers import WINDOW, Judged, scorer_of

pytestmark = pytest.mark.engine


def planned(folder: Path, generator: dict[str, Any], made: bool) -> GeneratorPlan:
    """The generator of the answers, which are ``made`` or to come, and their judge."""
    found = GeneratorPlan({**generator, **WINDOW, "max_tokens": 4}, "fp", Template(), folder / "cache", 1)
    if made:
        said = {"finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1, "logprob": 0.0,
                "dropped_passages": 0}  # fmt: skip
        texts = pl.concat([pl.read_parquet(folder / name) for name in ("answers", "zeroshot")])
        found.store.append([{**said, **key} for key in texts.select("prompt_id", "seed", "answer").to_dicts()], {})
    return found


def planned_job(
    judged: Judged, retriever: str = "", **more: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """The job without the answers' files, which the plan doesn't have, and with the prompts of zero-shot's."""
    files, settings = judged.job(scorer_of(kind="llm_judge"), retriever)
    zeroshot = judged.folder / "cells/prompts/none/k0"
    zeroshot.parent.mkdir(parents=True, exist_ok=True)
    without = {"qid": ["1", "2"], "docnos": [[], []], "prompt_id": ["c", "d"]}
    pl.DataFrame(without, schema_overrides={"docnos": pl.List(pl.String)}).write_parquet(zeroshot)
    beside = [zeroshot] if files["zeroshot"] else []
    patterns = settings["patterns"] | {"zeroshot_prompts": "prompts/{ordering}/k{k}"}
    given = {**files, "answers": [], "zeroshot": [], "zeroshot_prompts": beside}
    return given, {**settings, **more, "patterns": patterns, "answers_of": "lm"}, {}


@pytest.mark.parametrize("made", [True, False])
def test_as_many_questions_as_the_job_asks(tmp_path: Path, generator: dict[str, Any], made: bool) -> None:
    judged = Judged(tmp_path)
    found = work("judge_answers", [planned_job(judged)], {"lm": planned(tmp_path, generator, made)})
    assert found["requests"].sum() == 4 and found["prompt_id"].n_unique() == 4
    assert found["certain"].unique().to_list() == [made] and not found["cached"].any()
    if made:
        _, receipt, _ = judged.run(scorer_of(kind="llm_judge"), {**generator, "max_tokens": 4})
        assert (len(found), found["prompt_tokens"].sum()) == (receipt["made"], receipt["prompt_tokens"])


@pytest.mark.parametrize("made", [True, False])
def test_tokens_per_judged_answer(tmp_path: Path, generator: dict[str, Any], made: bool) -> None:
    """One answer counts: its baseline does not, and the other query has no references to judge by."""
    judged = Judged(tmp_path)
    generators = {"lm": planned(tmp_path, generator, made)}
    files, settings, wildcards = planned_job(judged)
    texts = {name: str(some) if isinstance(some, Path) else list(map(str, some)) for name, some in files.items()}
    part = {"files": texts, "settings": settings, "wildcards": wildcards}
    plan = plan_jobs([Job("judge_answers", "d", "lm", question="judge_answers", parts=[[part]])], generators, [1])
    row, total = plan.to_dicts()
    assert row["judged_answers"] == total["judged_answers"] == 1
    told = f"lm, judge_answers: ~{row['prompt_tokens']:,.0f} prompt tokens per judged answer"
    assert told in printed_table(plan, generators)


@pytest.mark.parametrize("made", [True, False])
def test_as_many_changed_questions_as_the_checks_ask(tmp_path: Path, generator: dict[str, Any], made: bool) -> None:
    """One answer has references: they are reversed, the parts are swapped, and the answer is padded."""
    judged = Judged(tmp_path)
    generators = {"lm": planned(tmp_path, generator, made)}
    found = work("check_judge", [planned_job(judged, "bm25", size=5)], generators)
    assert found["requests"].sum() == found["prompt_id"].n_unique() == 3
    assert found["certain"].unique().to_list() == [made] and not found["cached"].any()
    if made:
        files, settings = judged.job(scorer_of(kind="llm_judge"), "bm25")
        definition = {**generators["lm"].generator, "max_tokens": 4}
        _, receipt = ask("check_judge", files, {**settings, "size": 5}, definition, tmp_path)
        assert (len(found), found["prompt_tokens"].sum()) == (receipt["made"], receipt["prompt_tokens"])
