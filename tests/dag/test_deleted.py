"""What is missing of a finished study is made again, with all that follows it, and nothing else; by dry runs.

The rules and what follows them are those of the graph that Snakemake has loaded.
"""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.sandbox import ROOT, Sandbox

WRITE_GRAPH = """
import json
from snakemake.dag import DAG

decide = DAG.update_needrun


async def decide_and_write(dag, *arguments, **options):
    await decide(dag, *arguments, **options)
    keys = {job: f"{job.rule.name} {dict(job.wildcards.items())}" for job in dag.jobs}
    graph = {
        key: [job.rule.name, list(map(str, job.output)), [keys[j] for j in dag.depending[job]], dag.needrun(job)]
        for job, key in keys.items()
    }
    Path("graph.json").write_text(json.dumps(graph))


DAG.update_needrun = decide_and_write
"""
EVERYTHING = ("erag", "acu", "reproduce", "predict", "report")
SOME = {
    ("predict",): ["build_run", "view_answers", "predict_utility"],
    ("plan",): ["build_run", "prepare_collection", "build_prompts"],
    ("results/small/small/retrieval/bm25.parquet",): ["prepare_collection", "build_run"],
    ("report",): ["score_answers", "compute_utility"],
}


class Job(NamedTuple):
    """A job of the graph: its rule, files, the jobs that follow it, and whether it is to run."""

    rule: str
    output: list[str]
    followed_by: list[str]
    runs: bool


def graph(study: Sandbox, targets: tuple[str, ...]) -> dict[str, Job]:
    own = study.folder / "graph.smk"
    own.write_text((ROOT / "Snakefile").read_text(encoding="utf-8") + WRITE_GRAPH, encoding="utf-8")
    study.snakemake(*targets, "--dry-run", "--quiet", "--snakefile", own.name)
    found = json.loads((study.folder / "graph.json").read_text(encoding="utf-8"))
    return {name: Job(*job) for name, job in found.items()}


def following(jobs: dict[str, Job], name: str) -> set[str]:
    """The job ``name`` and all that follow it."""
    found, left = {name}, [name]
    while left:
        new = set(jobs[left.pop()].followed_by) - found
        found |= new
        left += new
    return found


@pytest.fixture(scope="module")
def study(optional: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    twin = optional.copied_to(tmp_path_factory.mktemp("deleted") / "study")
    twin.seem_run("plan")
    return twin


def check(study: Sandbox, targets: tuple[str, ...], rules: list[str] | None, aside: Path) -> None:
    """Move the files of one job of each of ``rules``, by default all with files, ``aside`` and look at the plan."""
    jobs = graph(study, targets)
    # A target without files always runs.
    always = {name for name, job in jobs.items() if job.runs}
    assert always <= {f"{target} {{}}" for target in targets}
    first = {job.rule: name for name, job in sorted(jobs.items(), reverse=True) if job.output}
    assert len(first) > 1 and set(rules or ()) <= set(first)
    for rule in rules or first:
        moved = {study.folder / path: aside / str(n) for n, path in enumerate(jobs[first[rule]].output)}
        for path, place in moved.items():
            shutil.move(path, place)
        try:
            planned = {name for name, job in graph(study, targets).items() if job.runs}
        finally:
            for path, place in moved.items():
                shutil.move(place, path)
        assert planned == following(jobs, first[rule]) | always, rule


def test_all_that_follows_a_job_whose_files_are_missing(study: Sandbox, tmp_path: Path) -> None:
    """A job of each rule that has files."""
    check(study, EVERYTHING, None, tmp_path)


@pytest.mark.parametrize("targets", SOME, ids=lambda targets: targets[0].rpartition("/")[2])
def test_for_other_targets(study: Sandbox, tmp_path: Path, targets: tuple[str, ...]) -> None:
    check(study, targets, SOME[targets], tmp_path)
