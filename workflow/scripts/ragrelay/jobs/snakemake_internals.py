"""Every use of what Snakemake does not document. Only the workflow imports this module; tests say what each is for."""

import gc
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from snakemake.dag import DAG
from snakemake.io import is_flagged
from snakemake.resources import Resource, Resources

from ragrelay.errors import InputError
from ragrelay.io.workflow_files import INSTALLED, PACKAGE
from ragrelay.jobs.scripts import on_terminal

NOT_KEPT = ("temp", "pipe", "service")
_OURS: list[Mapping[str, Any]] = []
_check_incomplete = DAG.check_incomplete


def collect_garbage_rarely() -> None:
    """Let Python's collector look at a graph of jobs every 20,000 new objects, not every 700.

    The graph is large and has no cycles to collect.
    """
    gc.set_threshold(20_000)


def import_this_package_in_jobs() -> None:
    """Have jobs import ``ragrelay`` from the checkout that the workflow is of.

    Snakemake puts a script's folder behind the environment's packages. Where these contain the package of another
    checkout, as with one environment for two, jobs would run its code, and their digests would be of ours. An
    installed package is what jobs find by themselves. (In an environment by conda, Snakemake removes this variable;
    there is no other package.)
    """
    first, given = str(PACKAGE.parent), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if not INSTALLED.is_dir():
        os.environ["PYTHONPATH"] = os.pathsep.join([first, *(path for path in given if path not in ("", first))])


def make_missing_files_again(module: Mapping[str, Any]) -> None:
    """Give each job of the rules in a workflow's ``module`` whose output is missing a reason to run.

    ``module``: the globals of its Snakefile. When a job fails, Snakemake records its new params and the content of its
    inputs, and removes its outputs. The next run would see neither a change nor a missing file, unless a target or a
    job that runs asks for it (snakemake#1978), and what follows would stay as it was before the change.
    """
    _OURS.append(module)
    DAG.check_incomplete = _check_missing  # called once per graph, before Snakemake decides which jobs run


async def _check_missing(dag: DAG) -> None:
    await _check_incomplete(dag)
    if not dag.workflow.is_main_process:
        return
    settings = dag.workflow.execution_settings  # none where nothing is to run, as for a summary
    if settings and settings.keep_incomplete:
        with on_terminal():
            found = "it, with which the next run takes a failed job's files for finished ones"
            raise InputError("option --keep-incomplete", found, "a command and a profile without it")
    for job in dag.jobs:
        if any(job.rule.module_globals is module for module in _OURS):
            kept = [file for file in job.output if not any(is_flagged(file, flag) for flag in NOT_KEPT)]
            dag.reason(job).missing_output.update([file async for file in job.missing_output(kept)])


def leave_unlocked(workflow: Any, targets: Collection[str]) -> None:
    """Have Snakemake not lock the folder where only ``targets`` are asked for; called before it would."""
    if set(workflow.dag_settings.targets) <= set(targets):
        workflow.persistence.lock = workflow.persistence.noop


def name_makers(rules: Iterable[Any], makers: Mapping[Callable[..., Any], str]) -> None:
    """Tell ``rules`` which rule makes the files of an input function; Snakemake tries all patterns for others."""
    for rule in rules:
        rule.dependencies |= {item: makers[item] for item in rule.input if item in makers}


def class_resources(workflow: Any, name: str) -> dict[str, Any]:
    """The `set-resources` of a class of rules in the profile."""
    given = workflow.resource_settings.overwrite_resources.get(name, {})
    return {key: _value(resource) for key, resource in Resources.from_mapping(given).items()}


def class_threads(workflow: Any, name: str, otherwise: Any) -> Any:
    """The `set-threads` of a class of rules in the profile, or ``otherwise``."""
    given = workflow.resource_settings.overwrite_threads.get(name, otherwise)
    return _value(given) if isinstance(given, Resource) else given


def _value(resource: Resource) -> Any:
    """A value of a profile; an expression, such as `attempt * 480`, is for each job to evaluate."""
    if not resource.is_evaluable():
        return resource.value
    return lambda wildcards, **job: resource.evaluate(wildcards, **job).value
