"""Every question to a model with a small input of its own, to be asked by jobs that are killed (killed_jobs.py)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.question import QuestionJob, question_module

from tests.support.annex_cases import of_annexes
from tests.support.asked_world import Given, World
from tests.support.sandbox import ROOT


def judged_answers(world: World, **more: Any) -> Given:
    from tests.unit.questions.test_judged_answers import judge_template, scorer_of

    scorer = scorer_of(kind="llm_judge", references="judged")
    files, patterns = world.answered
    given = {**files, "queries": world.files("queries"), "references": world.files("references"), "own": []}
    return given, {
        "scorer": {"kind": "llm_judge", **scorer.model_dump()}, "template": asdict(judge_template(scorer)),
        "grades": {"all": 1, "best": 3}, "near_copy": None, "patterns": patterns, **more,
    }, {}  # fmt: skip


def checked_answers(world: World) -> Given:
    return judged_answers(world, size=2)


def nuggets(world: World) -> Given:
    template = load_nugget_template(ROOT / "config/nugget_prompts/nuggets.yaml")
    settings = {"passages": {"depth": 4, "least_label": None}, "shards": 1, "template": vars(template),
                "limits": {"window": 2, "most": 3, "max_tokens": 8}}  # fmt: skip
    return {"queries": world.files("queries"), "passages": world.files("contexts/bm25")}, settings, {"shard": "0"}


def context_use(world: World) -> Given:
    files, patterns = world.answered
    del files["zeroshot"], files["contexts"]
    return {**files, "zeroshot_prompts": world.files("zeroshot")}, {"patterns": patterns}, {}


INPUTS: dict[str, Callable[[World], Given]] = {
    "judge_answers": judged_answers,
    "check_judge": checked_answers,
    "write_nuggets": nuggets,
    "score_context_use": context_use,
}
for of_annex in of_annexes("ASKED"):
    INPUTS |= of_annex
"""Of every question."""


def ask(names: Sequence[str], cache: Path, results: Path, generator: Mapping[str, Any], start: Any) -> None:
    """Ask each of the questions ``names`` in one job each; the rows that were asked go to ``results``."""
    world = World(cache.parent / "given")
    for name in names:
        files, settings, wildcards = INPUTS[name](world)
        asker = EngineAsker(generator, "print", cache, 1)
        asker.start = start
        asked, receipt = question_module(name).ask(QuestionJob(files, settings, wildcards), asker)
        rows = pl.DataFrame({"asked": [receipt.get("asked", 0)]}) if asked is None else asked
        write_parquet(rows, results / f"{name}.parquet")
