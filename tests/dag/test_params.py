"""Params of all jobs of a study with everything on, as Snakemake compares them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import param_records
from tests.support.annex_cases import targets
from tests.support.everything_study import MADE_AFTER, add_everything
from tests.support.optional_study import add_optional_parts
from tests.support.sandbox import Sandbox

WRITE_RECORDS = f"""
import json
import sys
from snakemake.dag import DAG

sys.path.insert(0, {str(Path(param_records.__file__).parent)!r})
from param_records import records

decide = DAG.update_needrun


async def decide_and_write(dag, *arguments, **options):
    await decide(dag, *arguments, **options)
    found = [records(dag.workflow.persistence, job) for job in dag.jobs if job.rule.script]
    Path("params.json").write_text(json.dumps(found))


DAG.update_needrun = decide_and_write
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    study = Sandbox(tmp_path_factory.mktemp("params") / "study")
    add_optional_parts(study)
    add_everything(study)
    own = study.folder / "params.smk"
    own.write_text((study.folder / "Snakefile").read_text(encoding="utf-8") + WRITE_RECORDS, encoding="utf-8")
    study.snakemake(*MADE_AFTER, *targets("planned"), "--dry-run", "--quiet", "--snakefile", own.name)
    text = Path(study.folder / "params.json").read_text(encoding="utf-8")
    jobs: list[dict[str, Any]] = json.loads(text)
    assert len(jobs) > 60 and sum(job["params"] for job in jobs) > 200
    return jobs


def test_params_are_plain_values(found: list[dict[str, Any]]) -> None:
    """Snakemake compares no others: a changed object would rerun nothing."""
    assert [(job["job"], job["odd"]) for job in found if job["odd"]] == []


def test_each_change_of_a_param_is_seen(found: list[dict[str, Any]]) -> None:
    assert [(job["job"], job["missed"]) for job in found if job["missed"]] == []


def test_no_two_numbers_can_swap(found: list[dict[str, Any]]) -> None:
    """Params are compared without their names: numbers that belong together go into one mapping."""
    assert {job["job"].split()[0]: job["numbers"] for job in found if len(job["numbers"]) > 1} == {}
