"""All uses of undocumented parts of Snakemake. Only the workflow imports this module; tests say what each is for."""

import functools
import gc
import logging
import os
import shlex
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake.dag import DAG
from snakemake.io import _IOFile, is_flagged
from snakemake.logging import logger
from snakemake.resources import GroupResources, Resource, Resources
from snakemake_interface_logger_plugins.common import LogEvent

from ragrelay.display.terminal import KEPT, Shown, say, tell
from ragrelay.errors import InputError
from ragrelay.io.cache_use import note_run
from ragrelay.io.file_versions import content_hash, file_version
from ragrelay.io.workflow_files import INSTALLED, PACKAGE
from ragrelay.jobs.cluster import Submissions, check, check_placeholders, placeholders, submission_table
from ragrelay.jobs.scripts import on_terminal

LOOKING = {"status", "preview", "stale", "check_cache", "check_cluster", "cache", "cache_compact", "cache_prune"}
"""Targets that change none of Snakemake's files, and may be called during a run."""
NOT_KEPT = ("temp", "pipe", "service")
CHANGED = "sha256:" + "0" * 64
_INTERRUPTS: list[int] = []
_OURS: list[tuple[Mapping[str, Any], Path]] = []
_SOURCES: dict[str, "_Source"] = {}
_check_incomplete = DAG.check_incomplete
_checksum_of, _is_eligible = _IOFile.checksum, _IOFile.is_checksum_eligible


def collect_garbage_rarely() -> None:
    """Let Python's collector look at a graph of jobs every 20,000 new objects, not every 700.

    The graph is large and has no cycles to collect.
    """
    gc.set_threshold(20_000)


def import_this_package_in_jobs() -> None:
    """Have jobs import ``ragrelay`` from the checkout that the workflow is of.

    Snakemake puts a script's folder behind the environment's packages. Where these contain the package of another
    checkout, as with one environment for two, jobs would run its code, but have digests of ours. An
    installed package is what jobs find by themselves. (In an environment by conda, Snakemake removes this variable;
    there is no other package.)
    """
    first, paths = str(PACKAGE.parent), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if not INSTALLED.is_dir():
        os.environ["PYTHONPATH"] = os.pathsep.join([first, *(path for path in paths if path not in ("", first))])


def inputs_to_make(dag: DAG, job: Any) -> set[str]:
    """The inputs of ``job`` that are made anew before it runs."""
    return {str(file) for other, files in dag.dependencies[job].items() if dag.needrun(other) for file in files}


def plan_by_content(module: Mapping[str, Any], cache_dir: str) -> None:
    """Give jobs of the rules in a workflow's ``module`` reasons to run that Snakemake does not see.

    ``module``: the globals of its Snakefile; ``cache_dir``: where hashes of large files are kept.

    An output that is missing: when a job fails, Snakemake records its new params and the content of its inputs, and
    removes its outputs. The next run would see neither a change nor a missing file, unless a target or a job that runs
    asks for it (snakemake#1978), and what follows would stay as it was before the change.

    A file of the user's, which no job makes, with other content than the job has read: Snakemake looks at the content
    of those alone that are newer than the job's outputs, and has no hash of those above `max-checksum-file-size`.
    """
    _OURS.append((module, Path(cache_dir)))
    DAG.check_incomplete = _give_reasons  # called once per graph, before Snakemake decides which jobs run
    _IOFile.checksum, _IOFile.is_checksum_eligible = _checksum, _is_checksum_eligible


class _Source:
    """A file that no job makes, as it was when the jobs to run were decided."""

    def __init__(self, path: str, cache_dir: Path) -> None:
        self.path, self.cache_dir, self.version = Path(path), cache_dir, file_version(path)

    @property
    def changed(self) -> bool:
        return file_version(self.path) != self.version

    @property
    def checksum(self) -> str | None:
        """In Snakemake's form; None of what can't be read, and one that no file has if it changed since.

        Jobs may have read either content then: with such a record they run again at the next start.
        """
        digest = self._hash
        return digest and (CHANGED if self.changed else digest)

    @functools.cached_property
    def _hash(self) -> str | None:
        try:
            return f"sha256:{content_hash(self.path, self.cache_dir)}"
        except OSError:
            return None


async def _give_reasons(dag: DAG) -> None:
    await _check_incomplete(dag)
    if not dag.workflow.is_main_process:
        return
    settings = dag.workflow.execution_settings  # none where nothing is to run, as for a summary
    if settings and settings.keep_incomplete:
        with on_terminal():
            found = "it, with which the next run takes a failed job's files for finished ones"
            raise InputError("option --keep-incomplete", found, "a command and a profile without it")
    for job in dag.jobs:
        for cache_dir in [folder for module, folder in _OURS if job.rule.module_globals is module]:
            kept = [file for file in job.output if not any(is_flagged(file, flag) for flag in NOT_KEPT)]
            dag.reason(job).missing_output.update([file async for file in job.missing_output(kept)])
            with on_terminal():
                dag.reason(job).updated_input.update(_changed_sources(dag, job, cache_dir))


def _changed_sources(dag: DAG, job: Any, cache_dir: Path) -> list[Any]:
    """The inputs of ``job`` that no job makes, and whose content is not what was recorded when it ran."""
    made = dag.dependencies[job].values()
    if sum(map(len, made)) == len(job.input):
        return []
    sources = {str(file): file for file in set(job.input).difference(*made)}
    for path in sources:
        if path not in _SOURCES:
            _SOURCES[path] = _Source(path, cache_dir)
    record = dag.workflow.persistence.metadata(job.output[0]) if job.output else None
    recorded = (record.input_checksums if record else None) or {}
    known = {path: recorded[path] for path in sources if recorded.get(path, "").startswith("sha256:")}
    return [sources[path] for path, checksum in known.items() if _SOURCES[path].checksum not in (checksum, None)]


async def _checksum(file: Any, *arguments: Any, **options: Any) -> str | None:
    source = _SOURCES.get(str(file))
    return await _checksum_of(file, *arguments, **options) if source is None else source.checksum


async def _is_checksum_eligible(file: Any, threshold: int) -> bool:
    return str(file) in _SOURCES or await _is_eligible(file, threshold)


def changed_sources() -> list[str]:
    """The user's files that have changed since it was decided which jobs run, in order."""
    return sorted(path for path, source in _SOURCES.items() if source.changed)


def finished_pages(workflow: Any) -> list[str]:
    """The pages that are there, of those that jobs of the present targets make."""
    made = {str(file) for job in workflow.dag.jobs for file in job.output if file.endswith(".html")}
    return sorted(path for path in made if Path(path).is_file())


def name_pages(workflow: Any) -> None:
    """Have Snakemake name the pages where it says that nothing is to be done; a run says so at its end."""

    def named(record: logging.LogRecord) -> bool:
        if record.msg == NOTHING_TO_BE_DONE_MSG:
            record.msg = "\n".join([record.msg, *(f"The page: {path}" for path in finished_pages(workflow))])
        return True

    logger.addFilter(named)


def check_submissions(workflow: Any) -> None:
    """Have a dry run end with what its jobs would ask of SLURM, and a run check that before its first job.

    What Snakemake logs at these places calls it: hooks such as `onstart` are not those of a module. The target
    `check_cluster` ends the run, whose jobs are those of the targets given with it, or of the report.
    """

    def checked(record: logging.LogRecord) -> bool:
        if workflow.dryrun and str(record.msg).startswith("This was a dry-run"):
            record.msg = f"{_dry_table(submissions(workflow))}{record.msg}"
        elif getattr(record, "event", None) == LogEvent.RUN_INFO and workflow.is_main_process and not workflow.dryrun:
            with on_terminal():
                _check_run(workflow)
                if not set(workflow.dag_settings.targets) <= LOOKING:
                    for cache_dir in {folder for _, folder in _OURS}:
                        note_run(cache_dir)
        return True

    logger.addFilter(checked)


def _dry_table(classes: list[Submissions]) -> str:
    if not any(key.startswith("slurm_") for group in classes for key in group.resources):
        return ""
    left = ", ".join(value for values in placeholders(classes).values() for value in values)
    note = f"{left}: placeholders of profiles/slurm; SLURM is asked in a run, or by the target check_cluster.\n"
    return f"What SLURM would be asked for:\n{submission_table(classes)}\n{note if left else ''}"


def _check_run(workflow: Any) -> None:
    asked = any(job.rule.name.endswith("check_cluster") for job in workflow.dag.needrun_jobs())
    if workflow.local_exec or workflow.executor_plugin.name != "slurm":
        if asked:
            raise InputError("target check_cluster", "no jobs for SLURM", "a profile for it, such as --profile slurm")
        return
    classes = submissions(workflow)
    check_placeholders(classes)
    if asked:
        answers, refused = check(classes)
        say(answers)
        if refused:
            found = f"{refused} of {len(classes)} classes of jobs that it would refuse"
            raise InputError("SLURM", found, "a profile and a configuration that ask for what it has")
        sys.exit(0)


def submissions(workflow: Any) -> list[Submissions]:
    """The jobs that go to a cluster, as they are submitted first, in the order of the rules."""
    from snakemake_executor_plugin_slurm.submit_string import get_submit_command  # here, for a workflow that has none
    from snakemake_executor_plugin_slurm.utils import set_gres_string

    dag, place = workflow.dag, {rule: number for number, rule in enumerate(workflow.rules)}
    counts: Counter[tuple[str, ...]] = Counter()
    asked: dict[tuple[str, ...], dict[str, Any]] = {}
    needed = dag.needrun_jobs(exclude_finished=False)
    jobs = [job for job in needed if job.rule.group or not (job.rule.norun or job.rule.name in workflow._localrules)]
    if workflow.dryrun:  # at whose end nothing needs them as they were: as if its jobs ran here, on one core
        workflow.global_resources["_cores"] = None
        for job in jobs:
            job._resources = None
    seen: set[int] = set()
    for job in sorted(jobs, key=lambda job: (place[job.rule], job)):
        if (group := dag.get_job_group(job)) is None:
            name, resources = job.rule.name, dict(job.resources.items())
        elif id(group) in seen:
            continue
        else:
            seen.add(id(group))
            # Not the group's own, which a dry run adds up as if its jobs ran here.
            limits = {"constraints": workflow.global_resources, "run_local": False}
            name, resources = group.groupid, dict(GroupResources.basic_layered([*group.toposorted], **limits))
        stand_in = SimpleNamespace(resources=_Asked(resources), threads=resources["_cores"])
        where = {name: resources.get(f"slurm_{name}") for name in ("account", "partition")}
        where = {name: f" --{name}={shlex.quote(str(value))}" if value else "" for name, value in where.items()}
        told = {"run_uuid": "check_cluster", "slurm_logfile": os.devnull, "comment_str": name, "workdir": ""} | where
        call = get_submit_command(stand_in, told, workflow.executor_settings) + set_gres_string(stand_in)
        key = (name, *shlex.split(call))
        counts[key] += 1
        asked.setdefault(key, resources)
    return [Submissions(key[0], number, asked[key], key[1:]) for key, number in counts.items()]


class _Asked(dict[str, Any]):
    """Resources by key, and by name as those of a job."""

    __getattr__ = dict.__getitem__


def escape_what_is_logged() -> None:
    """Have Snakemake's own messages, which name files and repeat logs, send nothing but text to the terminal.

    After Ctrl-C they send no errors there: every job that it ends would be one. Snakemake's log file has them.
    """
    for handler in logger.handlers:
        if handler.formatter and not isinstance(handler.formatter, Shown):
            handler.setFormatter(Shown(handler.formatter))
            if not isinstance(handler, logging.FileHandler):
                handler.addFilter(lambda record: not (_INTERRUPTS and record.levelno >= logging.ERROR))
    ours = threading.current_thread() is threading.main_thread()
    if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note_interrupt)


def _note_interrupt(number: int, frame: Any) -> None:
    _INTERRUPTS.append(number)
    raise KeyboardInterrupt


def tell_the_end(errors: str) -> None:
    """Write to the terminal that a run has failed: what to correct (``errors``), and how to continue."""
    if _INTERRUPTS:
        tell(f"ragrelay: error: stopped by an interrupt: {KEPT}")
        return
    kept = "what was finished is kept; when the cause is fixed, the same command continues from there."
    tell(f"{errors}ragrelay: {kept}")


def leave_unlocked(workflow: Any) -> list[str]:
    """Have Snakemake not lock the folder where only targets that look are asked for. Gives the inputs of these: none.

    Called as an input, when the jobs are known and before Snakemake locks the folder. With a lock, targets that look
    would delete the lock of the run that they look at: Snakemake removes all locks of a folder at its end.
    """
    if set(workflow.dag_settings.targets) <= LOOKING:
        workflow.persistence.lock = workflow.persistence.noop
    return []


def name_makers(rules: Iterable[Any], makers: Mapping[Callable[..., Any], str]) -> None:
    """Tell ``rules`` which rule makes the files of an input function; Snakemake tries all patterns for others."""
    for rule in rules:
        rule.dependencies |= {item: makers[item] for item in rule.input if item in makers}


def made_patterns(workflow: Any) -> list[str]:
    """Regular expressions of all that rules make, with the present configuration's names for wildcards."""
    return [
        made.regex().pattern
        for rule in workflow.rules
        for made in [*rule.output, *([rule.benchmark] if rule.benchmark else [])]
    ]


def log_patterns(workflow: Any) -> list[tuple[str, list[str]]]:
    """For each rule with a log and outputs: a regular expression of its log, and its outputs."""
    rules = [rule for rule in workflow.rules if rule.log and rule.output]
    return [(rule.log[0].regex().pattern, list(map(str, rule.output))) for rule in rules]


def class_resources(workflow: Any, name: str) -> dict[str, Any]:
    """The `set-resources` of a class of rules in the profile."""
    resources = workflow.resource_settings.overwrite_resources.get(name, {})
    return {key: _value(resource) for key, resource in Resources.from_mapping(resources).items()}


def class_threads(workflow: Any, name: str, otherwise: Any) -> Any:
    """The `set-threads` of a class of rules in the profile, or ``otherwise``."""
    threads = workflow.resource_settings.overwrite_threads.get(name, otherwise)
    return _value(threads) if isinstance(threads, Resource) else threads


def asked_resources(workflow: Any) -> dict[str, dict[str, int]]:
    """For each rule with a benchmark, minutes (`runtime`) and MB (`mem_mb`) that the profile gives a first attempt."""
    measured = [rule for rule in workflow.rules if rule.benchmark]
    asked = {rule.name: {name: _first(rule, name) for name in ("runtime", "mem_mb")} for rule in measured}
    return {rule: {name: value for name, value in of.items() if value} for rule, of in asked.items()}


def time_limit(rule: Any) -> int | None:
    """Minutes that the profile gives a job of ``rule`` at its first attempt; None where it sets no limit."""
    return _first(rule.rule, "runtime")


def _first(rule: Any, name: str) -> int | None:
    """A number that a profile has for a job's first attempt; None where it has none."""
    if (resource := rule.resources.get(name)) is None:
        return None
    job = {"input": [], "attempt": 1, "threads": 1, "rulename": rule.name, "async_run": rule.workflow.async_run}
    value = resource.evaluate(None, **job).value
    return value if isinstance(value, int) else None


def _value(resource: Resource) -> Any:
    """A value of a profile; an expression, such as `attempt * 480`, is for each job to evaluate."""
    if not resource.is_evaluable():
        return resource.value
    return lambda wildcards, **job: resource.evaluate(wildcards, **job).value
