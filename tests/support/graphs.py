"""The graph of jobs that Snakemake has loaded, and which of them it has decided to run."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tests.support.sandbox import Sandbox

WRITE_GRAPH = """
import json
from snakemake.dag import DAG

decide = DAG.update_needrun


async def decide_and_write(dag, *arguments, **options):
    await decide(dag, *arguments, **options)
    keys = {job: f"{job.rule.name} {dict(sorted(job.wildcards.items()))}" for job in dag.jobs}
    graph = {
        key: [
            job.rule.name,
            list(map(str, job.output)),
            [str(f) for f in job.input if not any(f in files for files in dag.dependencies[job].values())],
            [keys[j] for j in dag.depending[job]],
            dag.needrun(job),
            [keys[j] for j, files in dag.depending[job].items() if not all(file.is_ancient for file in files)],
            list(map(str, job.input)),
            list(job.wildcards),
        ]
        for job, key in keys.items()
    }
    Path("graph.json").write_text(json.dumps(graph))


DAG.update_needrun = decide_and_write
"""


class Job(NamedTuple):
    """A job of the graph: its rule, files, inputs that no job makes, the jobs that follow it, whether it is to run.

    ``reruns``: those of the jobs that follow it which run again if it does; the others only wait for it (`ancient`).
    ``of``: values of its wildcards.
    """

    rule: str
    output: list[str]
    brought: list[str]
    followed_by: list[str]
    runs: bool
    reruns: list[str]
    read: list[str]
    of: list[str]


def graph(study: Sandbox, targets: tuple[str, ...]) -> dict[str, Job]:
    """The jobs of ``targets`` as a dry run plans them, by rule and wildcards."""
    own = study.folder / "graph.smk"
    own.write_text((study.folder / "Snakefile").read_text(encoding="utf-8") + WRITE_GRAPH, encoding="utf-8")
    study.snakemake(*targets, "--dry-run", "--quiet", "--snakefile", own.name)
    found = json.loads((study.folder / "graph.json").read_text(encoding="utf-8"))
    return {name: Job(*job) for name, job in found.items()}


def following(jobs: dict[str, Job], name: str) -> set[str]:
    """The job ``name`` and all that run again if it does."""
    found, left = {name}, [name]
    while left:
        new = set(jobs[left.pop()].reruns) - found
        found |= new
        left += new
    return found


def following_any(jobs: dict[str, Job], names: Iterable[str]) -> set[str]:
    """The jobs ``names`` and all that run again if they do."""
    return set().union(*(following(jobs, name) for name in names))


def told_apart(jobs: dict[str, Job], changes: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of changes for one dry run each: in a group, no job that a change reruns first follows from another.

    ``changes``: name → the jobs that it reruns first. A change that goes unseen in its group leaves these jobs out.
    """
    all_of = {name: following_any(jobs, first) for name, first in changes.items()}
    groups: list[list[str]] = []
    for name, first in changes.items():
        fitting = (g for g in groups if not any(first & all_of[one] or changes[one] & all_of[name] for one in g))
        if group := next(fitting, None):
            group.append(name)
        else:
            groups.append([name])
    return groups
