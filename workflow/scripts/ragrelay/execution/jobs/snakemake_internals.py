"""All uses of Snakemake's undocumented API in the workflow. For each use, a test shows why it is needed."""

import atexit
import functools
import gc
import hashlib
import inspect
import json
import linecache
import logging
import os
import pkgutil
import re
import shlex
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

from snakemake.common import NOTHING_TO_BE_DONE_MSG, __version__
from snakemake.dag import DAG
from snakemake.io import _IOFile, ancient, flag, is_flagged
from snakemake.jobs import Job, Reason
from snakemake.logging import logger
from snakemake.persistence import ParamsChange, PersistenceBase
from snakemake.persistence.file import FilePersistence
from snakemake.resources import GroupResources, Resource, Resources
from snakemake.rules import Rule
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.types import DeploymentMethod
from snakemake.sourcecache import infer_source_file
from snakemake.workflow import Workflow
from snakemake_interface_logger_plugins.common import LogEvent

from ragrelay.base.display.terminal import KEPT, Shown, say, tell
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_use import note_run
from ragrelay.base.io.file_versions import content_hash, file_version
from ragrelay.base.io.workflow_files import INSTALLED, PACKAGE
from ragrelay.base.vocabulary.study_file import MISSING_KEYS
from ragrelay.execution.jobs.cluster import (
    Submissions,
    check,
    check_placeholders,
    has_accounting,
    placeholders,
    submission_table,
)
from ragrelay.execution.jobs.reasons import changed_params, shortened_reason
from ragrelay.execution.jobs.scripts import on_terminal

LOOKING = {"status", "preview", "stale", "check_cache", "check_cluster", "cache", "cache_compact", "cache_prune"}
"""Targets that don't change any of Snakemake's files and so may be requested during a run."""
KNOWN_VERSIONS = "9.22.0 to 9.27.1"
"""Snakemake versions whose functions have the hashes below. Before 9.20, times without a unit were read as seconds."""
DECIDING = {
    "snakemake.dag:DAG.check_incomplete": "b5f63154fad90a97",
    "snakemake.dag:DAG.init": "921bea6d4c9ca0b2",
    "snakemake.dag:DAG.update_needrun": "e63c2afb9a13204d",
    "snakemake.io:_IOFile.checksum": "e9e5aa86d927f9d9",
    "snakemake.io:_IOFile.is_checksum_eligible": "7208419ab564b36e",
    "snakemake.io:_IOFile.is_same_checksum": "f5c26cf27ceb5304",
    "snakemake.jobs:Job.missing_output": "fb0d9c3645f375de 9951a6aa677bf433",
    "snakemake.persistence.file:FilePersistence._delete_locks": "c7e6701b13e03e52",
    "snakemake.persistence.file:FilePersistence._read_locks": "ed041bde94f5e629",
    "snakemake.persistence.file:FilePersistence._write_locks": "61dcd3cb78d3d086",
    "snakemake.persistence:PersistenceBase._input": "25b1fdf3e787480e",
    "snakemake.persistence:PersistenceBase.finished": "ff2b958491763b50 1e0cff88639c288a",
    "snakemake.persistence:PersistenceBase.input_checksums": "793d23385fe82e5e",
    "snakemake.persistence:PersistenceBase.lock": "15a9ea289c7fff45",
    "snakemake.workflow:Workflow.execute": "fa1fdda0c1e0077d 6a81fb5bd5abbb97",
}
"""Functions that decide which jobs run, record how files were made, or announce a run, each with the hashes of its
source, oldest known version first.

This module replaces or relies on them, so a change in one of them could go unnoticed. To accept a new version, read
what it changes in them, run the tests with it, and add the output of `python tools/snakemake_hashes.py VERSION`.
"""
SCHEDULING = {
    "snakemake.scheduling.job_scheduler:JobRateLimiter.get_free_jobs": "70a0e1f1fb6e8132",
    "snakemake.scheduling.job_scheduler:JobRateLimiter.register_jobs": "3035b163a7aa54ce",
    "snakemake.scheduling.job_scheduler:JobScheduler._schedule_reevalutation": "f3a56927a5b1569a",
    "snakemake.scheduling.job_scheduler:JobScheduler.job_selector": "0127a04c0ed84234",
    "snakemake.scheduling.job_scheduler:JobScheduler.schedule": "c37afaca105759f8 321a1548968849fc",
}
"""Functions that decide when Snakemake looks for jobs to start, with hashes as in DECIDING."""
NOT_KEPT = ("temp", "pipe", "service")
FOLLOWED = {
    "view_answers.py": "generate_answers.py",
    "score_answers.py": "fill_scores.py",
    "read_replies.py": "ask_question.py",
}
"""For each script that reads a store, the script that fills the store and writes its receipts."""
CHANGED = "sha256:" + "0" * 64
COUNT = "ragrelay_count"
"""The flag that marks the input file with a job's number of missing keys (see generation.missing_work)."""
SIZES = ("mem_mb", "disk_mb")
"""Resources that Snakemake requires a value for."""
_INTERRUPTS: list[int] = []
_TOLD: set[str] = set()
_OURS: list[tuple[Mapping[str, object], Path]] = []
_PLANNED: dict[str, int] = {}
_SOURCE_FILES: dict[str, "_SourceFile"] = {}
_check_incomplete, _update_needrun = DAG.check_incomplete, DAG.update_needrun
_whole_reason = Reason.__str__
_input_of = PersistenceBase._input
_checksum_of, _is_eligible = _IOFile.checksum, _IOFile.is_checksum_eligible
_delete_all, _read, _write = (
    FilePersistence._delete_locks,
    FilePersistence._read_locks,
    FilePersistence._write_locks,
)


def check_snakemake() -> None:
    """Raise InputError if the code of a function in DECIDING is unknown, because Snakemake might run the wrong jobs."""
    if other := [name.partition(":")[2] for name in _other_functions() if name in DECIDING]:
        found, expected = f"unknown code in {', '.join(other)}", f"the code of Snakemake {KNOWN_VERSIONS}"
        raise InputError(f"Snakemake {__version__}", found, expected)


@functools.cache
def _other_functions() -> list[str]:
    """Return the functions in DECIDING and SCHEDULING that are missing or whose source differs.

    Cached, because it must run before this module replaces them, and the workflow may be loaded again later.
    """
    return [name for name, digests in (DECIDING | SCHEDULING).items() if _source_hash(name) not in digests.split()]


def _source_hash(name: str) -> str | None:
    """Return 16 digits of the SHA-256 of a function's source; None if there is none. ``name``: ``module:function``."""
    try:
        code = inspect.unwrap(pkgutil.resolve_name(name)).__code__
    except (AttributeError, ImportError):
        return None
    text = "".join(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :])
    # Takes decorators, `def`, and what is indented deeper, in 2 ms for all; inspect.getsource reads tokens, in 50 ms.
    indent = text[: len(text) - len(text.lstrip())]
    source = re.match(rf"({indent}@.*\n)*{indent}(async )?def .*\n(\s*\n|{indent}[ )].*\n)*", text)
    return hashlib.sha256(source[0].rstrip().encode()).hexdigest()[:16] if source else None


def look_at_jobs_when_needed() -> None:
    """Make Snakemake search for startable jobs only when it might find some.

    By default, every search starts a thread that searches again a second later. So whenever a job finishes while others
    are waiting, one more thread searches every second until no job waits. If the scheduler's code is unknown, it is
    left unchanged, which only costs time.
    """
    if SCHEDULING.keys().isdisjoint(_other_functions()):
        JobScheduler._schedule_reevalutation = _look_again


def _look_again(scheduler: JobScheduler, delay: float) -> None:
    """Make ``scheduler`` look at its ready jobs within ``delay`` seconds if it may find jobs to start.

    That is possible if the previous look reached the limit of jobs per time or only considered a sample of the jobs, or
    if inputs come from a queue. If there is a limit, the next look comes when the oldest start no longer counts. Any
    other event that lets a job start, such as the end of another job, makes Snakemake look immediately. Because every
    look calls this function, the earliest timer is enough.
    """
    limiter = scheduler.job_rate_limiter
    if limiter and len(limiter._jobs) >= limiter.max_jobs > 0:
        delay = min(delay, max(0.0, limiter._jobs[0] + limiter.timespan - time.time()))
    elif not (scheduler.subsample or scheduler.workflow.dag.has_unfinished_queue_input_jobs()):
        return
    look, pending = _Look(scheduler, delay), getattr(scheduler, "_pending_look", None)
    if pending:
        if time.monotonic() < pending.due <= look.due:
            return
        pending.cancel()
    scheduler._pending_look = look
    look.start()


class _Look(threading.Timer):
    """Makes ``scheduler`` look at the time ``due`` (time.monotonic). Snakemake doesn't wait for it when it ends."""

    def __init__(self, scheduler: JobScheduler, delay: float) -> None:
        super().__init__(delay, scheduler._open_jobs.release)
        self.daemon, self.due = True, time.monotonic() + delay


def shorten_reasons() -> None:
    """Shorten Snakemake's reasons from 8 kB of params and paths to the changed parts of params and a few files."""
    if Reason.__str__ is not _reason:
        ParamsChange.__str__ = lambda change: changed_params(change.only_old, change.only_new)
        Reason.__str__ = _reason


def _reason(reason: Reason) -> str:
    return shortened_reason(_whole_reason(reason))


def collect_garbage_rarely() -> None:
    """Collect garbage after every 20,000 new objects instead of 700, because the large job graph has no cycles."""
    gc.set_threshold(20_000)


def import_this_package_in_jobs(workflow: Workflow) -> None:
    """Make jobs import ``ragrelay`` from the workflow's own checkout.

    Snakemake puts a script's folder after the environment's packages on the import path. So if two checkouts share an
    environment, jobs could run one checkout's code with the other's digests. An installed package is left as is.

    In conda environments, PYTHONPATH contains only the checkout, because packages from other folders would hide the
    environment's packages. This requires `conda-not-block-search-path-envvars`, which profiles/default sets.
    """
    first, paths = str(PACKAGE.parent), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
        paths = []
    if not INSTALLED.is_dir():
        os.environ["PYTHONPATH"] = os.pathsep.join([first, *(path for path in paths if path not in ("", first))])


def plan_by_content(module: Mapping[str, object], cache_dir: str) -> None:
    """Make Snakemake rerun a job if an output is missing or if an input that no job creates has changed.

    ``module``: the globals of the Snakefile whose jobs are affected. ``cache_dir``: the folder for file hashes.

    When a job fails, Snakemake records its new params and inputs, but removes its outputs. The next run then sees no
    change, so the job only reruns if a target or a running job needs a missing output (snakemake#1978). Otherwise,
    results that depend on the job stay outdated.

    For a file that no job creates, Snakemake only compares the content if the file is newer than the job's outputs, and
    doesn't hash files above `max-checksum-file-size`.
    """
    _OURS.append((module, Path(cache_dir)))
    DAG.check_incomplete = _give_reasons  # called once per graph, before Snakemake selects jobs
    DAG.update_needrun = _order_only
    _IOFile.checksum, _IOFile.is_checksum_eligible = _checksum, _is_checksum_eligible
    PersistenceBase._input = _recorded_input


def count_file(path: str) -> Any:
    """Mark ``path``, the file that contains a job's number of missing keys, as an input that never triggers the job.

    Snakemake doesn't record this input, so switching to a profile that doesn't count missing keys triggers no jobs.
    """
    return flag(ancient(path), COUNT)


def _recorded_input(persistence: PersistenceBase, job: Job) -> list[str]:
    return [file for file in _input_of(persistence, job) if not is_flagged(file, COUNT)]


class _SourceFile:
    """A file that no job creates, in the state in which it was when Snakemake decided which jobs to run."""

    def __init__(self, path: str, cache_dir: Path) -> None:
        self.path, self.cache_dir, self.version = Path(path), cache_dir, file_version(path)

    @property
    def changed(self) -> bool:
        return file_version(self.path) != self.version

    @property
    def checksum(self) -> str | None:
        """Return the checksum in Snakemake's format, None if the file can't be read, or CHANGED if it has changed.

        CHANGED matches no checksum, so the job will rerun; it may have read the file before or after the change.
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
    settings = dag.workflow.execution_settings  # None if nothing will run, for example for a summary
    if settings and settings.keep_incomplete:
        with on_terminal():
            found = "this option, which would let the next run mistake a failed job's files for finished ones"
            raise InputError("option --keep-incomplete", found, "a command and a profile without it")
    for job in dag.jobs:
        for cache_dir in [folder for module, folder in _OURS if job.rule.module_globals is module]:
            kept = [file for file in job.output if not any(is_flagged(file, flag) for flag in NOT_KEPT)]
            dag.reason(job).missing_output.update([file async for file in job.missing_output(kept)])
            with on_terminal():
                dag.reason(job).updated_input.update(_changed_source_files(dag, job, cache_dir))


async def _order_only(dag: DAG, *arguments: object, **options: object) -> None:
    """Decide which jobs run as if jobs didn't depend on jobs that only create their ancient() inputs.

    Snakemake doesn't check the reasons of a job that is downstream of a running job, because it will run anyway. After
    ancient(), it won't, so its own reasons are lost. If the ancient file is missing, for example after a failure, the
    job runs without a reason.
    """
    hidden = []
    for maker, jobs in dag.depending.items():
        for job, files in jobs.items():
            if _is_ours(job) and all(file.is_ancient for file in files):
                hidden.append((maker, job, files))
            else:
                _tell_if_it_should_follow(job, maker)
    for maker, job, _ in hidden:
        del dag.depending[maker][job]
    try:
        await _update_needrun(dag, *arguments, **options)
        while _count_again(dag, hidden):
            await _update_needrun(dag, *arguments, **options)
    finally:
        for maker, job, files in hidden:
            dag.depending[maker][job] = files


def _count_again(dag: DAG, hidden: Iterable[tuple[Job, Job, Iterable[str]]]) -> bool:
    """Request counts of missing keys for exactly the jobs that will run. Return whether a count must be replaced.

    ``hidden``: jobs that create ancient() inputs, jobs that have them, and these files. A count may be left over from a
    killed run. A count that no job needs is never created, whatever has changed.
    """
    counts = [(maker, job, files) for maker, job, files in hidden if any(is_flagged(file, COUNT) for file in files)]
    needed = {maker: files for maker, job, files in counts if dag.needrun(job)}
    for maker in {maker for maker, _, _ in counts} - needed.keys() - dag.targetjobs:
        dag._needrun.discard(maker)
        dag._n_until_ready.pop(maker, None)
        dag.reason(maker).clear()
    dag._len = len(dag._finished | dag._needrun)
    left = [(maker, files) for maker, files in needed.items() if not dag.needrun(maker)]
    for maker, files in left:
        dag.reason(maker).missing_output.update(files)
    return bool(left)


def _tell_if_it_should_follow(job: Job, maker: Job) -> None:
    """Warn if the rule of ``job`` reads a store but reruns whenever ``maker`` has filled it for another retriever.

    This happens if a workflow that imports the rules replaces their inputs, including ancient().
    """
    view, filling = (infer_source_file(each.rule.script or "").get_filename() for each in (job, maker))
    if FOLLOWED.get(view) == filling and job.rule.name not in _TOLD and _is_ours(job):
        _TOLD.add(job.rule.name)
        place = f"ragrelay: warning: rule {job.rule.name}: found receipts of {maker.rule.name} among its inputs"
        tell(f"{place}; expected ancient(…) around them, without which it runs whenever another retriever changes")


def _is_ours(job: Job) -> bool:
    return any(job.rule.module_globals is module for module, _ in _OURS)


def _changed_source_files(dag: DAG, job: Job, cache_dir: Path) -> list[str]:
    """Return the inputs of ``job`` that no job creates and whose content has changed since it ran."""
    made = dag.dependencies[job].values()
    if sum(map(len, made)) == len(job.input):
        return []
    source_files = {str(file): file for file in set(job.input).difference(*made)}
    for path in source_files:
        if path not in _SOURCE_FILES:
            _SOURCE_FILES[path] = _SourceFile(path, cache_dir)
    record = dag.workflow.persistence.metadata(job.output[0]) if job.output else None
    recorded = (record.input_checksums if record else None) or {}
    known = {path: recorded[path] for path in source_files if recorded.get(path, "").startswith("sha256:")}
    changed = [path for path, checksum in known.items() if _SOURCE_FILES[path].checksum not in (checksum, None)]
    return [source_files[path] for path in changed]


async def _checksum(file: object, *arguments: object, **options: object) -> str | None:
    source = _SOURCE_FILES.get(str(file))
    return await _checksum_of(file, *arguments, **options) if source is None else source.checksum


async def _is_checksum_eligible(file: object, threshold: int) -> bool:
    return str(file) in _SOURCE_FILES or await _is_eligible(file, threshold)


def changed_source_files() -> list[str]:
    """Return the sorted paths of user files that have changed since Snakemake decided which jobs to run."""
    return sorted(path for path, source in _SOURCE_FILES.items() if source.changed)


def finished_files(workflow: Workflow) -> list[str]:
    """Return the sorted outputs that this run's targets need and that already exist."""
    made = {str(file) for job in workflow.dag.jobs for file in job.output}
    return sorted(path for path in made if Path(path).is_file())


def end_with(lines: Callable[[], list[str]]) -> None:
    """Make Snakemake print ``lines`` after its message that there is nothing to do."""

    def added(record: logging.LogRecord) -> bool:
        if record.msg == NOTHING_TO_BE_DONE_MSG:
            record.msg = "\n".join([record.msg, *lines()])
        return True

    logger.addFilter(added)


def check_submissions(workflow: Workflow, planned: Callable[[Iterable[Job]], tuple[dict[str, int], str]]) -> None:
    """Print the jobs' requests to SLURM at the end of a dry run, and check the requests before a run's first job.

    Both actions are triggered by log records, because Snakemake ignores a module's hooks such as `onstart`. The target
    `check_cluster` checks the requests of the jobs for the other targets (by default, the report) and then ends the
    run. ``planned``: a function that returns the numbers of missing keys in the plan, and the plan's date.
    """

    def checked(record: logging.LogRecord) -> bool:
        if workflow.dryrun and str(record.msg).startswith("This was a dry-run"):
            record.msg = f"{_dry_table(workflow, planned)}{record.msg}"
        elif getattr(record, "event", None) == LogEvent.RUN_INFO and workflow.is_main_process and not workflow.dryrun:
            with on_terminal():
                _check_run(workflow)
                if not set(workflow.dag_settings.targets) <= LOOKING:
                    for cache_dir in {folder for _, folder in _OURS}:
                        note_run(cache_dir)
        return True

    logger.addFilter(checked)


def _dry_table(workflow: Workflow, planned: Callable[[Iterable[Job]], tuple[dict[str, int], str]]) -> str:
    if not any(key.startswith("slurm_") for rule in workflow.rules for key in rule.resources):
        return ""
    jobs, counted = [*workflow.dag.needrun_jobs(exclude_finished=False)], ""
    if any(getattr(job.input, MISSING_KEYS, ()) for job in jobs):
        missing, time = planned(jobs)
        _PLANNED.update(missing)
        unknown = "Jobs without missing answers or scores get no GPU; to see which, run `snakemake plan` first.\n"
        counted = f"The numbers of missing answers come from the plan of {time}.\n" if time else unknown
    classes = submissions(workflow)
    left = ", ".join(value for values in placeholders(classes).values() for value in values)
    note = f"{left}: placeholders in profiles/slurm; a run or the target check_cluster checks them with SLURM.\n"
    return f"Requests to SLURM:\n{submission_table(classes)}\n{counted}{note if left else ''}"


def _check_run(workflow: Workflow) -> None:
    requested = any(job.rule.name.endswith("check_cluster") for job in workflow.dag.needrun_jobs())
    if workflow.local_exec or workflow.executor_plugin.name != "slurm":
        if requested:
            raise InputError("target check_cluster", "no jobs for SLURM", "a SLURM profile, such as --profile slurm")
        return
    classes, settings = submissions(workflow), workflow.executor_settings
    check_placeholders(classes)
    settings.efficiency_report = settings.efficiency_report and has_accounting()
    if requested:
        answers, refused = check(classes)
        say(answers)
        if refused:
            found = f"{refused} of {len(classes)} job classes that it would reject"
            raise InputError("SLURM", found, "a profile and a configuration that request only available resources")
        sys.exit(0)


def submissions(workflow: Workflow) -> list[Submissions]:
    """Return the jobs to submit to the cluster, grouped by their requests for the first attempt, in rule order."""
    from snakemake_executor_plugin_slurm.submit_string import get_submit_command  # may not be installed
    from snakemake_executor_plugin_slurm.utils import set_gres_string

    dag, place = workflow.dag, {rule: number for number, rule in enumerate(workflow.rules)}
    counts: Counter[tuple[str, ...]] = Counter()
    asked: dict[tuple[str, ...], dict[str, object]] = {}
    needed = dag.needrun_jobs(exclude_finished=False)
    jobs = [job for job in needed if job.rule.group or not (job.rule.norun or job.rule.name in workflow._localrules)]
    # A dry run computes resources as if its jobs ran here, on one core. When it ends, nothing else needs them.
    if workflow.dryrun:
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
            # Don't use the group's own resources, which a dry run adds up as if its jobs ran here.
            limits = {"constraints": workflow.global_resources, "run_local": False}
            name, resources = group.groupid, dict(GroupResources.basic_layered([*group.toposorted], **limits))
        stand_in = SimpleNamespace(resources=_Asked(resources), threads=resources["_cores"])
        where = {name: resources.get(f"slurm_{name}") for name in ("account", "partition")}
        where = {name: f" --{name}={shlex.quote(str(value))}" if value else "" for name, value in where.items()}
        names = {"run_uuid": "check_cluster", "slurm_logfile": os.devnull, "comment_str": name, "workdir": ""}
        call = get_submit_command(stand_in, names | where, workflow.executor_settings) + set_gres_string(stand_in)
        key = (name, *shlex.split(call))
        counts[key] += 1
        asked.setdefault(key, resources)
    return [Submissions(key[0], number, asked[key], key[1:]) for key, number in counts.items()]


class _Asked(dict[str, Any]):
    """Resources that can be read as keys and as attributes, as in a job."""

    __getattr__ = dict.__getitem__


def escape_log_messages() -> None:
    """Escape control characters in Snakemake's messages, which contain file names and parts of logs.

    After Ctrl-C, errors are only written to Snakemake's log file, because every interrupted job reports an error.
    """
    for handler in logger.handlers:
        if handler.formatter and not isinstance(handler.formatter, Shown):
            handler.setFormatter(Shown(handler.formatter))
            if not isinstance(handler, logging.FileHandler):
                handler.addFilter(lambda record: not (_INTERRUPTS and record.levelno >= logging.ERROR))
    ours = threading.current_thread() is threading.main_thread()
    if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note_interrupt)


def _note_interrupt(number: int, frame: FrameType | None) -> None:
    _INTERRUPTS.append(number)
    raise KeyboardInterrupt


def print_failure(errors: str) -> None:
    """Print how to continue, and the ``errors`` to fix, as the last lines of a failed run.

    The lines are printed when the process exits, because Snakemake prints more lines after its failure handlers.
    """
    if _INTERRUPTS:
        atexit.register(tell, f"ragrelay: error: stopped by an interrupt: {KEPT}")
        return
    kept = "ragrelay: finished work is kept. Fix the cause and run the same command again to continue."
    atexit.register(tell, f"{kept}\n{errors.rstrip()}")


def leave_unlocked(workflow: Workflow) -> list[str]:
    """Leave the folder unlocked if all targets only inspect a study (LOOKING). Returns an empty list of inputs.

    Snakemake calls this input function after it has determined the jobs and before it locks the folder. If such a
    target locked the folder, Snakemake would remove all locks in the folder at the end, including the lock of the run
    that the target inspects.
    """
    if set(workflow.dag_settings.targets) <= LOOKING:
        workflow.persistence.lock = workflow.persistence.noop
    return []


def keep_locks_of_other_runs() -> None:
    """Make Snakemake remove only a run's own locks when the run ends, and keep the folder that contains the locks.

    By default, Snakemake removes this folder, including the locks of other runs. A second run that is about to lock its
    files would then end with a FileNotFoundError, and a third run could overwrite the second run's files.
    """
    FilePersistence._delete_locks = _delete_own_locks
    FilePersistence._read_locks = _read_locks
    FilePersistence._write_locks = _write_locks


def _delete_own_locks(persistence: FilePersistence) -> None:
    if not persistence._lockfile:  # --unlock
        _delete_all(persistence)
    for path in persistence._lockfile.values():
        Path(path).unlink(missing_ok=True)
    persistence._lockfile.clear()


def _read_locks(persistence: FilePersistence) -> list[tuple[str, str]]:
    try:
        return list(_read(persistence))
    except FileNotFoundError:  # a run has just ended
        return _read_locks(persistence)


def _write_locks(persistence: FilePersistence, lock_type: str, keys: Iterable[str]) -> None:
    Path(persistence._lockdir).mkdir(exist_ok=True)  # --unlock removes it
    _write(persistence, lock_type, keys)


def declare_makers(rules: Iterable[Rule], makers: Mapping[Callable[..., object], str]) -> None:
    """Declare which rule creates each input function's files, so that Snakemake needn't try every rule's patterns."""
    for rule in rules:
        rule.dependencies |= {item: makers[item] for item in rule.input if item in makers}


def output_patterns(workflow: Workflow) -> list[str]:
    """Return regular expressions for all outputs and benchmarks. Wildcards only match names in the configuration."""
    return [
        output.regex().pattern
        for rule in workflow.rules
        for output in [*rule.output, *([rule.benchmark] if rule.benchmark else [])]
    ]


def log_patterns(workflow: Workflow) -> list[tuple[str, list[str]]]:
    """Return a regular expression for the log, and the output patterns, for each rule that has a log and outputs."""
    rules = [rule for rule in workflow.rules if rule.log and rule.output]
    return [(rule.log[0].regex().pattern, list(map(str, rule.output))) for rule in rules]


def class_resources(workflow: Workflow, name: str) -> dict[str, object]:
    """Return the resources that the profile sets for a class of rules (`set-resources`)."""
    resources = workflow.resource_settings.overwrite_resources.get(name, {})
    return {key: _value(resource) for key, resource in Resources.from_mapping(resources).items()}


def with_work(workflow: Workflow, resources: Mapping[str, object]) -> dict[str, object]:
    """Make ``resources`` depend on missing keys: jobs without missing keys get the profile's `default-resources`.

    Retried jobs, and jobs whose missing keys haven't been counted, still get ``resources``.
    """
    defaults = workflow.resource_settings._parsed_default_resources
    return {name: _by_work(Resource(name, value), defaults.get(name)) for name, value in resources.items()}


def _by_work(of_class: Resource, default: Resource | None) -> Callable[..., object]:
    if default is None:
        default = of_class if of_class.name in SIZES else Resource(of_class.name, None)

    def value(wildcards: Any, input: Any, attempt: int, **job: Job) -> Any:
        chosen = default if attempt == 1 and missing_keys(input) == 0 else of_class
        return chosen.evaluate(wildcards, input=input, attempt=attempt, **job).value

    return value


def missing_keys(inputs: object) -> int | None:
    """Return the number of missing keys from the count file in a job's ``inputs``, or None if there is no count yet.

    In a dry run for a cluster, the number may come from the plan.
    """
    counts = map(Path, getattr(inputs, MISSING_KEYS, ()))
    known = [
        json.loads(path.read_text(encoding="utf-8"))[MISSING_KEYS] if path.is_file() else _PLANNED.get(str(path))
        for path in counts
    ]
    return known[0] if known else None


def class_threads(workflow: Workflow, name: str, otherwise: object) -> object:
    """Return the profile's number of threads for a class of rules (`set-threads`), or ``otherwise`` if it sets none."""
    threads = workflow.resource_settings.overwrite_threads.get(name, otherwise)
    return _value(threads) if isinstance(threads, Resource) else threads


def requested_resources(workflow: Workflow) -> dict[str, dict[str, int]]:
    """Return the profile's `runtime` (minutes) and `mem_mb` for a first attempt, for each rule with a benchmark."""
    measured = [rule for rule in workflow.rules if rule.benchmark]
    requested = {rule.name: {name: _first(rule, name) for name in ("runtime", "mem_mb")} for rule in measured}
    return {rule: {name: value for name, value in values.items() if value} for rule, values in requested.items()}


def submitted_at_once(workflow: Workflow) -> int | None:
    """Return the profile's limit on jobs submitted at once (`jobs`), or None if all jobs run on this machine."""
    nodes = workflow.resource_settings.nodes
    return None if workflow.local_exec or not isinstance(nodes, int) else nodes


def time_limit(rule: Rule) -> int | None:
    """Return the profile's time limit in minutes for a first attempt at ``rule``, or None if there is no limit."""
    return _first(rule.rule, "runtime")


def _first(rule: Rule, name: str) -> int | None:
    """Return a resource's number for a job's first attempt; None if the profile has none."""
    if (resource := rule.resources.get(name)) is None:
        return None
    job = {"input": [], "attempt": 1, "threads": 1, "rulename": rule.name, "async_run": rule.workflow.async_run}
    value = resource.evaluate(None, **job).value
    return value if isinstance(value, int) else None


def _value(resource: Resource) -> Any:
    """Return a value from the profile; an expression such as `attempt * 480` as a function that each job evaluates."""
    if not resource.is_evaluable():
        return resource.value
    return lambda wildcards, **job: resource.evaluate(wildcards, **job).value
