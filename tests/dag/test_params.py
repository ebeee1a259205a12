"""Params of all jobs of a study with everything on, as Snakemake compares them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.everything_study import add_everything
from tests.support.optional_study import add_optional_parts
from tests.support.sandbox import Sandbox

WRITE_RECORDS = """
import json
from snakemake.dag import DAG
from tests.dag.test_params import records

decide = DAG.update_needrun


async def decide_and_write(dag, *arguments, **options):
    await decide(dag, *arguments, **options)
    found = [records(dag.workflow.persistence, job) for job in dag.jobs if job.rule.script]
    Path("params.json").write_text(json.dumps(found))


DAG.update_needrun = decide_and_write
"""
PLAIN = (str, int, float, bool, type(None))


def leaves(value: Any) -> list[Any]:
    """The values inside lists, tuples and dictionaries."""
    if isinstance(value, dict):
        return [leaf for inside in value.values() for leaf in leaves(inside)]
    return [leaf for inside in value for leaf in leaves(inside)] if isinstance(value, list | tuple) else [value]


def changes(value: Any) -> list[Any]:
    """``value`` with one leaf changed, for each of its leaves."""
    if isinstance(value, dict):
        return [{**value, key: other} for key, inside in value.items() for other in changes(inside)]
    if isinstance(value, list | tuple):
        return [
            type(value)([*value[:place], other, *value[place + 1 :]])
            for place, inside in enumerate(value)
            for other in changes(inside)
        ]
    return ["changed" if value is None else value + "x" if isinstance(value, str) else value + 7]


def records(persistence: Any, job: Any) -> dict[str, Any]:
    """Of a job: what in its params is not plain, changes that Snakemake does not see, and whole numbers."""
    own = {name: value for name, value in job.params.items() if any(value is one for one in job.non_derived_params)}
    before = set(persistence._params(job))
    return {
        "job": f"{job.rule.name} {dict(job.wildcards.items())}",
        "params": len(own),
        "odd": [
            f"{name}: {type(leaf).__name__}"
            for name, value in own.items()
            for leaf in leaves(value)
            if not isinstance(leaf, PLAIN)
        ],
        "missed": [
            name
            for name, value in own.items()
            for other in changes(value)
            if persistence._serialize_param(other) in before or persistence._serialize_param(value) not in before
        ],
        "numbers": [name for name, value in own.items() if type(value) is int],
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    study = Sandbox(tmp_path_factory.mktemp("params") / "study")
    add_optional_parts(study)
    add_everything(study)
    own = study.folder / "params.smk"
    own.write_text((study.folder / "Snakefile").read_text(encoding="utf-8") + WRITE_RECORDS, encoding="utf-8")
    targets = ("erag", "acu", "reproduce", "predict", "export", "report")
    study.snakemake(*targets, "--dry-run", "--quiet", "--snakefile", own.name)
    text = Path(study.folder / "params.json").read_text(encoding="utf-8")
    jobs: list[dict[str, Any]] = json.loads(text)
    assert len(jobs) > 150 and sum(job["params"] for job in jobs) > 500
    return jobs


def test_params_are_plain_values(found: list[dict[str, Any]]) -> None:
    """Snakemake compares no others: a changed object would rerun nothing."""
    assert [(job["job"], job["odd"]) for job in found if job["odd"]] == []


def test_each_change_of_a_param_is_seen(found: list[dict[str, Any]]) -> None:
    assert [(job["job"], job["missed"]) for job in found if job["missed"]] == []


def test_no_two_numbers_can_swap(found: list[dict[str, Any]]) -> None:
    """Params are compared without their names: numbers that belong together go into one mapping."""
    assert {job["job"].split()[0]: job["numbers"] for job in found if len(job["numbers"]) > 1} == {}
