"""The judge of evidence, asked by a real engine: each text once, counted by the plan, read for every pair."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.acu.judged_evidence import COLUMNS
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.prompting.templates import Template

from tests.support.asking import asked, read, work
from tests.support.sandbox import MODEL

pytestmark = pytest.mark.engine


def test_the_jobs_ask_plan_and_read(generator: dict[str, Any], tmp_path: Path) -> None:
    claims = pl.DataFrame({"id": ["a", "b", "c"], "evidence": ["As the BBC says, so.", "It is.", "It is."]})
    claims.write_parquet(tmp_path / "claims.parquet")
    files = {"claims": tmp_path / "claims.parquet"}
    definition = {**generator, "model": MODEL, "max_model_len": 512}
    planned = GeneratorPlan({**definition, "max_tokens": 4}, "fp", Template(), tmp_path, 1)
    before = work("judge_evidence", [(files, {}, {"claims": "mine"})], {"lm": planned})
    nothing, receipt = asked("judge_evidence", files, {}, definition, tmp_path)
    assert nothing is None and receipt["words"] == ["Yes", "No"]
    assert receipt["made"] == receipt["asked"] == len(before)
    assert before["prompt_tokens"].sum() == receipt["prompt_tokens"]
    made = read("judge_evidence", files, {}, receipt, tmp_path)["judged"]
    assert dict(made.schema) == {**schema_of(COLUMNS), "mass": pl.Float64} and made["id"].to_list() == ["a", "b", "c"]
    first, second, third = made["p_refers"]
    assert 0 < first < 1 and second == third != first
