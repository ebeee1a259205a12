"""Questions to models as their jobs and the plan ask them, without Snakemake."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.execution.plan.plan import question_work
from ragrelay.execution.plan.work import Job
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.store import likelihood_fingerprint
from ragrelay.questions.question import QuestionJob, question_module

Files = Mapping[str, Path | Sequence[Path]]


def asked(
    name: str,
    files: Files,
    settings: Mapping[str, Any],
    generator: Mapping[str, Any],
    cache: Path,
    wildcards: Mapping[str, str] | None = None,
) -> tuple[pl.DataFrame | None, dict[str, Any]]:
    """What the job ``name`` asked of ``generator``, and its receipt."""
    asker = EngineAsker(generator, likelihood_fingerprint(generator), cache, 1)
    return question_module(name).ask(QuestionJob(_texts(files), settings, wildcards or {}), asker)


def read(
    name: str, files: Files, settings: Mapping[str, Any], receipt: Mapping[str, Any], cache: Path
) -> Mapping[str, Any]:
    """What the job that reads the replies makes."""
    return question_module(name).read(QuestionJob(_texts(files), settings, {}), receipt, cache)


def work(
    name: str,
    parts: Sequence[tuple[Files, Mapping[str, Any], Mapping[str, str]]],
    planned: Mapping[str, GeneratorPlan],
    seeds: Sequence[int] = (1,),
) -> pl.DataFrame:
    """WORK of jobs with one of ``parts`` (files, settings, wildcards) each, which ask generator lm."""
    given = [[{"files": _texts(files), "settings": said, "wildcards": key}] for files, said, key in parts]
    return question_work(Job(name, "d", "lm", question=name, parts=given), planned, seeds)[0]


def _texts(files: Files) -> dict[str, str | list[str]]:
    return {name: str(some) if isinstance(some, Path) else list(map(str, some)) for name, some in files.items()}
