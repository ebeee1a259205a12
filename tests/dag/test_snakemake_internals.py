"""What the workflow uses of Snakemake without its documentation: each test fails where a new Snakemake has changed it.

Others: for `make_missing_files_again` see e2e/test_failed_jobs.py and dag/test_deleted.py, too; `leave_unlocked` is in
dag/test_status.py, `escape_log_messages` in dag/test_terminal.py.
"""

import hashlib
import inspect
import json
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
import snakemake.api
from packaging.requirements import Requirement
from packaging.version import Version

from tests.support.changes import CODE, changed
from tests.support.sandbox import ROOT, Sandbox, jobs_of
from tests.support.waiting import wait_for

BEFORE = "from ragrelay.execution.jobs import snakemake_internals as internals\n"
TWO_MAKERS = """
def made(wildcards):
    return "b.txt"

rule last:
    input: made

rule one:
    output: "{name}.txt"
    shell: "echo one > {output}"

rule other:
    output: "{name}.txt"
    shell: "echo other > {output}"
"""
OF_CLASSES = """
of_class = internals.class_resources(workflow, "engine")
cores = internals.class_threads(workflow, "engine", 1)

rule tried_again:
    output: "a.txt"
    threads: cores
    resources: **of_class
    shell: "echo {threads} {resources.mem_mb} {resources.partition} >> tried.txt; "
           "[ $(wc -l < tried.txt) = 2 ] && touch {output}"

print("others:", internals.class_resources(workflow, "none"), internals.class_threads(workflow, "none", 7))
"""


def run(folder: Path, snakefile: str, *arguments: str, first: str = "") -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` on a workflow of its own; packages in the folder ``first`` come before all others."""
    (folder / "Snakefile").write_text(BEFORE + snakefile, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "4", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [first, str(ROOT / "workflow/scripts")]))}
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)


def test_the_maker_of_an_input_is_the_one_that_is_named(tmp_path: Path) -> None:
    """Of two rules that make it: without a name, Snakemake looks through all patterns, and refuses to choose."""
    refused = run(tmp_path, TWO_MAKERS)
    assert refused.returncode and "AmbiguousRuleException" in refused.stdout + refused.stderr
    named = 'internals.declare_makers(workflow.rules, {made: "other"})\n'
    done = run(tmp_path, TWO_MAKERS + named)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b.txt").read_text() == "other\n"


def test_resources_and_threads_of_a_class_of_rules_are_the_profiles(tmp_path: Path) -> None:
    """An expression is computed for each attempt."""
    resources = ("--set-resources", "engine:mem_mb=attempt*100", "engine:partition=gpu")
    done = run(tmp_path, OF_CLASSES, *resources, "--set-threads", "engine=3", "--retries", "1")
    assert done.returncode == 0, done.stderr
    assert "others: {} 7" in done.stdout
    assert (tmp_path / "tried.txt").read_text().splitlines() == ["3 100 gpu", "3 200 gpu"]


COUNTED = """
import json
from ragrelay.execution.jobs.snakemake_internals import count_file, with_work

internals.plan_by_content(globals(), "cache")
rules_of_class = with_work(workflow, {**internals.class_resources(workflow, "engine"), "gpu": lambda wildcards: 2})

rule all:
    input: "made.txt"

rule count:
    output: temp("count.json")
    params: number=config["number"]
    shell: "echo count >> ran.txt; echo '{{\\"missing\\": {params.number}}}' > {output}"

rule make:
    input: missing=lambda wildcards: [count_file("count.json")] if config.get("counts", True) else []
    output: "made.txt"
    params: number=config["made"]
    resources: **rules_of_class
    run:
        kept = {n: v for n, v in resources.items() if n in ("gpu", "part", "model", "mem_mb", "runtime")}
        with open("ran.txt", "a") as file:
            file.write(json.dumps(kept) + "\\n")
        if config.get("fails") and resources.get("part") == "short":
            raise ValueError("keys have vanished")
        Path(output[0]).touch()
"""
BY_PROFILE = (
    "--set-resources", "engine:part=gpus", "engine:model=a100", "engine:mem_mb=attempt*100", "engine:runtime=480",
    "--default-resources", "part=short", "mem_mb=attempt*7", "runtime=30",
)  # fmt: skip
WITH_WORK = {"part": "gpus", "model": "a100", "mem_mb": 100, "runtime": 480, "gpu": 2}
WITHOUT = {"part": "short", "mem_mb": 7, "runtime": 30}
"""No `gpu` and no `model`, as they have no default."""


def ran(folder: Path, *config: str, arguments: tuple[str, ...] = BY_PROFILE) -> list[Any]:
    """What a run writes: `count`, and the resources of the job that makes."""
    log = folder / "ran.txt"
    log.unlink(missing_ok=True)
    done = run(folder, COUNTED, *arguments, "--config", *config)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = log.read_text().splitlines() if log.exists() else []
    return [line if line == "count" else json.loads(line) for line in lines]


def test_a_job_whose_keys_are_all_there_gets_default_resources(tmp_path: Path) -> None:
    assert ran(tmp_path, "number=3", "made=1") == ["count", WITH_WORK]
    assert ran(tmp_path, "number=0", "made=2") == ["count", WITHOUT]
    assert not (tmp_path / "count.json").exists()
    by_name = ("--set-resources", "make:part=mine", *BY_PROFILE[1:])
    assert ran(tmp_path, "number=0", "made=3", arguments=by_name)[1]["part"] == "mine", "the rule's name wins"


def test_a_job_whose_keys_have_vanished_is_tried_again_with_work(tmp_path: Path) -> None:
    again = {**WITH_WORK, "mem_mb": 200}
    assert ran(tmp_path, "number=0", "made=1", "fails=1", arguments=("--retries", "1", *BY_PROFILE)) == [
        "count", WITHOUT, again,
    ]  # fmt: skip


def test_a_count_makes_no_job_run(tmp_path: Path) -> None:
    """Not where results are older than counts, nor after another count, --touch or --forcerun of the counts alone."""
    assert ran(tmp_path, "number=3", "made=1", "counts=")[-1] == WITH_WORK
    assert ran(tmp_path, "number=0", "made=1") == []
    assert ran(tmp_path, "number=5", "made=1") == []
    assert ran(tmp_path, "number=5", "made=1", arguments=("--touch", *BY_PROFILE)) == []
    assert ran(tmp_path, "number=5", "made=1", arguments=("--forcerun", "make", "--touch", *BY_PROFILE)) == []
    assert ran(tmp_path, "number=4", "made=1") == ran(tmp_path, "number=4", "made=1", "counts=") == []
    assert ran(tmp_path, "number=0", "made=1", arguments=("--forcerun", "make", *BY_PROFILE)) == ["count", WITHOUT]


def test_a_count_of_a_killed_run_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "count.json").write_text('{"missing": 9}')
    assert ran(tmp_path, "number=0", "made=1") == ["count", WITHOUT]


TWO_JOBS = """
internals.escape_log_messages()
internals.look_at_jobs_when_needed()

onerror:
    internals.print_failure("Fix this.")

rule all:
    input: "a.txt", "b.txt"

rule waits:
    output: "{name}.txt"
    log: "{name}.log"
    script: "waits.py"
"""
WAITS = """
import time
from pathlib import Path
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    Path(snakemake.wildcards.name).touch()
    while not Path("fail").exists():
        time.sleep(0.1)
    raise ValueError("on purpose")
"""


@pytest.mark.parametrize("interrupted", [True, False])
def test_after_control_c_there_is_one_line(tmp_path: Path, interrupted: bool) -> None:
    """A terminal sends it to the whole process group. Snakemake's log has each job's end, and so has its own.

    Snakemake waits without a timer when it comes.
    """
    (tmp_path / "waits.py").write_text(WAITS, encoding="utf-8")
    (tmp_path / "Snakefile").write_text(BEFORE + TWO_JOBS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    with (tmp_path / "output.txt").open("w") as output:
        run = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", "--keep-going"], cwd=tmp_path, env=environment,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for("both jobs", lambda: (tmp_path / "a").exists() and (tmp_path / "b").exists(), 120)
        if interrupted:
            os.killpg(run.pid, signal.SIGINT)
        else:
            (tmp_path / "fail").touch()
        assert run.wait(timeout=120) == 1
    finally:
        run.kill()
    said = (tmp_path / "output.txt").read_text()
    [kept] = (tmp_path / ".snakemake/log").glob("*.log")
    # Before 9.26, Snakemake repeats each failed job's error at the end, and doesn't say how long the run took.
    older = Version(snakemake.__version__) < Version("9.26")
    errors, lasted = 4 if older and not interrupted else 2, [] if older else ["Elapsed time"]
    assert kept.read_text().count("Error in rule waits") == errors
    if interrupted:
        end = said.partition("Terminating processes on user request, this might take some time.\n")[2].splitlines()
        last = "ragrelay: error: stopped by an interrupt: finished work is kept; run the same"
        assert end[-1].startswith(last), said
        assert [line.partition(":")[0] for line in end[:-1]] == ["Complete log(s)", *lasted], said
    else:
        assert said.count("Error in rule waits") == errors
        how, mistake = said.splitlines()[-2:]
        assert how.startswith("ragrelay: finished work is kept. Fix the cause") and mistake == "Fix this."


CHAIN = """
rule {0}_last:
    input: "{0}_middle.txt"
    output: "{0}_last.txt"
    shell: "cp {{input}} {{output}}"

rule {0}_middle:
    input: "{0}_first.txt"
    output: "{0}_middle.txt"
    shell: "cp {{input}} {{output}}"

rule {0}_first:
    output: "{0}_first.txt"
    shell: "touch {{output}}"
"""
AS_A_MODULE = """
module ours:
    snakefile: "ours.smk"

use rule * from ours as its_*

rule all:
    default_target: True
    input: "ours_last.txt", "theirs_last.txt"
"""


def test_missing_files_of_a_module_are_made_again_and_no_others(tmp_path: Path) -> None:
    """Those of the workflow that uses it are its own business: Snakemake sees none missing before what is there."""
    ours = f"{BEFORE}internals.plan_by_content(globals(), Path('cache'))\n{CHAIN.format('ours')}"
    (tmp_path / "ours.smk").write_text(ours, encoding="utf-8")
    workflow = AS_A_MODULE + CHAIN.format("theirs")
    assert jobs_of(run(tmp_path, workflow))["its_ours_middle"] == 1
    assert jobs_of(run(tmp_path, workflow, "--dry-run")) == {}
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}_middle.txt").unlink()
    assert jobs_of(run(tmp_path, workflow)) == {"its_ours_middle": 1, "its_ours_last": 1, "all": 1}


SHOW = """
onstart:
    import gc
    print("collector:", gc.isenabled(), gc.get_threshold()[0])
"""


def test_the_garbage_collector_is_as_it_was_set_when_jobs_are_chosen(tmp_path: Path) -> None:
    done = run(tmp_path, "internals.collect_garbage_rarely()\n" + SHOW + TWO_MAKERS, "b.txt", "--allowed-rules", "one")
    assert done.returncode == 0, done.stderr
    assert "collector: True 20000" in done.stdout


@pytest.mark.parametrize("other", [ROOT / "workflow/scripts", None], ids=["first on the path", "none"])
def test_jobs_run_the_code_of_the_checkout_whose_workflow_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: Path | None
) -> None:
    """Not that of another one, which the environment knows."""
    study = Sandbox(tmp_path / "study")
    study.forked = False
    given = {**study.environment(), "PYTHONPATH": str(other or "")}
    monkeypatch.setattr(Sandbox, "environment", lambda self: given)
    with changed(study, lambda one: one.edit(f"{CODE}/collection/local.py", "_query(", '"Now " + _query(')):
        study.snakemake("results/small/small/collection/queries.parquet")
    queries = pl.read_parquet(study.results / "small/collection/queries.parquet")["query"]
    assert len(queries) == 8 and queries.str.starts_with("Now ").all()


@pytest.fixture(scope="module")
def internals() -> ModuleType:
    from ragrelay.execution.jobs import snakemake_internals

    return snakemake_internals


def test_the_functions_of_this_snakemake_are_known(internals: ModuleType) -> None:
    """By their whole source, as inspect finds it. For a new version: what is new in them, and its hashes."""
    known = internals.DECIDING | internals.SCHEDULING
    sources = {name: inspect.getsource(pkgutil.resolve_name(name)).rstrip() for name in known}
    hashes = {name: hashlib.sha256(source.encode()).hexdigest()[:16] for name, source in sources.items()}
    assert {name: hashed for name, hashed in hashes.items() if hashed not in known[name].split()} == {}
    assert {name: internals._source_hash(name) for name in known} == hashes


def test_what_is_replaced_is_among_them(internals: ModuleType) -> None:
    """Every assignment to an attribute of a class of Snakemake's, or of its persistence."""
    source = Path(internals.__file__).read_text(encoding="utf-8")
    replaced = set(
        re.findall(r"\b(DAG|_IOFile|JobScheduler|FilePersistence|persistence)\.(\w+)(?=[\w., ]* = )", source)
    )
    names = {f"{owner}.{name}".replace("persistence", "PersistenceBase") for owner, name in replaced}
    assert {"DAG.check_incomplete", "_IOFile.checksum", "PersistenceBase.lock"} <= names
    assert names <= {name.partition(":")[2] for name in internals.DECIDING | internals.SCHEDULING}


def test_the_versions_that_are_accepted_are_the_same_everywhere(internals: ModuleType) -> None:
    """In the package, the Snakefile, the locks and the environment of Snakemake alone."""
    oldest, newest = known = internals.KNOWN_VERSIONS.split(" to ")
    assert Version(oldest) <= Version(snakemake.__version__) <= Version(newest)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["optional-dependencies"]["workflow"], *(ROOT / "requirements/common.in").read_text().split()]
    pinned = re.findall("- (snakemake==.+)", (ROOT / "envs/host.yaml").read_text(encoding="utf-8"))
    found = [Requirement(one).specifier for one in (*asked, *pinned) if re.match(r"snakemake\b(?!-)", one)]
    assert len(found) == 3
    assert all(any(version in one for version in known) for one in found)
    assert not any(version in one for version in ("9.21.1", "9.28.0") for one in found)
    assert all(f'Version("{limit}")' in (ROOT / "Snakefile").read_text(encoding="utf-8") for limit in (oldest, "9.28"))


def edited_snakemake(folder: Path, file: str, old: str, new: str) -> str:
    """A copy of Snakemake in ``folder`` in which ``old`` is ``new``, once; the folder's path."""
    package = Path(snakemake.__file__).parent
    shutil.copytree(package, folder / package.name)
    text = (folder / package.name / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / package.name / file).write_text(text.replace(old, new), encoding="utf-8")
    return str(folder)


EDITED = {
    "newer": ("__init__.py", snakemake.__version__, "9.28.0", "Snakemake: found 9.28.0; expected 9.22.0 to 9.27"),
    "patched": (
        "dag.py",
        "        self.cleanup()\n\n        await self.check_incomplete()\n",
        "        await self.check_incomplete()\n\n        self.cleanup()\n",
        f"Snakemake {snakemake.__version__}: found unknown code in DAG.init; expected the code of Snakemake 9.22.0 to "
        "9.27.1",
    ),
}


@pytest.mark.parametrize(("file", "old", "new", "line"), EDITED.values(), ids=EDITED)
def test_another_snakemake_is_one_line(tmp_path: Path, file: str, old: str, new: str, line: str) -> None:
    """Before any job, with the version that is found and those that are expected."""
    study = Sandbox(tmp_path / "study")
    environment = {**study.environment(), "PYTHONPATH": edited_snakemake(tmp_path / "packages", file, old, new)}
    command = study.command("--dry-run")
    done = subprocess.run(command, cwd=study.folder, env=environment, text=True, capture_output=True)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said, said
    assert [one for one in said.splitlines() if one.startswith("ragrelay")] == [f"ragrelay: error: {line}"]


TWO_RUNS = '''
import time
from pathlib import Path

internals.keep_locks_of_other_runs()
name = config["name"]

def found_late(wildcards):
    """As in a large workflow, whose jobs take time to find."""
    if name == "second":
        Path("second").touch()
        while not Path("first.txt").exists() or list(Path(".snakemake/locks").glob("*.lock")):
            time.sleep(0.05)
    return []

rule only:
    input: found_late
    output: f"{name}.txt"
    shell: f"touch {name}.at; until [ -e {name}.end ]; do sleep .1; done; touch {{output}}"
'''


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    """A run that ends while others look for their jobs, or are at work, leaves them their locks."""
    (tmp_path / "Snakefile").write_text(BEFORE + TWO_RUNS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}

    def started(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--config", f"name={name}"]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment, text=True, stdout=pipe, stderr=subprocess.STDOUT
        )

    def locked() -> set[str]:
        paths = (tmp_path / ".snakemake/locks").glob("*.output.lock")
        return {line for path in paths for line in path.read_text().splitlines()}

    def ended(run: subprocess.Popen[str], code: int) -> str:
        said, _ = run.communicate(timeout=120)
        assert run.returncode == code and "FileNotFoundError" not in said, said
        return said

    try:
        first = started("first")
        wait_for("the first job", lambda: (tmp_path / "first.at").exists(), 120)
        second = started("second")
        wait_for("the second run", lambda: (tmp_path / "second").exists(), 120)
        (tmp_path / "first.end").touch()
        ended(first, 0)
        wait_for("the second job", lambda: (tmp_path / "second.at").exists(), 120, lambda: str(second.poll()))
        third = started("third")
        wait_for("the third job", lambda: (tmp_path / "third.at").exists(), 120)
        assert locked() == {"second.txt", "third.txt"}
        (tmp_path / "third.end").touch()
        ended(third, 0)
        assert locked() == {"second.txt"}
        (tmp_path / "second.end").touch()
        ended(second, 0)
    finally:
        for name in ("first", "second", "third"):
            (tmp_path / f"{name}.end").touch()
    assert locked() == set()


LOOKS = """
from snakemake.scheduling.job_scheduler import JobScheduler
import threading

start, begun = threading.Timer.start, []
threading.Timer.start = lambda timer: begun.append(timer.daemon) or start(timer)

onsuccess:
    print("timers:", len(begun), set(begun), JobScheduler._schedule_reevalutation.__name__)

rule all:
    input: expand("{number}.txt", number=range(6))

rule quick:
    output: "{number}.txt"
    shell: "touch {output}"
"""


def timers(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """How many timers Snakemake has started; whether they are daemons, and the function that starts them."""
    assert done.returncode == 0, done.stderr
    [found] = re.findall("^timers: (.+)$", done.stdout, re.MULTILINE)
    number, _, rest = found.partition(" ")
    return int(number), rest


PATCHED = "internals.look_at_jobs_when_needed()\n"


def test_while_jobs_wait_for_others_snakemake_starts_no_timer(tmp_path: Path) -> None:
    """Six jobs, one at a time. By itself, it starts one after each look that leaves jobs, or a running job."""
    before = timers(run(tmp_path, LOOKS, "--cores", "1"))
    assert before[0] >= 6 and before[1] == "{False} _schedule_reevalutation"
    for path in tmp_path.glob("*.txt"):
        path.unlink()
    assert timers(run(tmp_path, PATCHED + LOOKS, "--cores", "1")) == (0, "set() _look_again")


def test_jobs_that_wait_for_a_limit_of_time_start_after_it(tmp_path: Path) -> None:
    """None is running then, so that nothing else makes Snakemake look."""
    number, rest = timers(run(tmp_path, PATCHED + LOOKS, "--max-jobs-per-timespan", "2/1s"))
    assert number and rest == "{True} _look_again"
    assert len([*tmp_path.glob("?.txt")]) == 6


def test_the_workflow_starts_no_timer_alone_and_as_a_module(tmp_path: Path) -> None:
    """Twice in one process: what is replaced already is not taken for another Snakemake."""
    study = Sandbox(tmp_path / "study")
    own = study.folder / "own.smk"
    name = "from snakemake.scheduling.job_scheduler import JobScheduler\nprint(JobScheduler._schedule_reevalutation)\n"
    module = "module {0}:\n    snakefile: 'Snakefile'\n    config: config\n\nuse rule * from {0} as {0}_*\n\n"
    both = "configfile: 'config/config.yaml'\n\n" + "".join(map(module.format, ("one", "other")))
    for text in (study.folder.joinpath("Snakefile").read_text(encoding="utf-8"), both):
        own.write_text(text + name, encoding="utf-8")
        assert "<function _look_again" in study.snakemake("--list-rules", "--snakefile", own.name).stdout


def test_an_unknown_scheduler_stays_as_it_is(tmp_path: Path) -> None:
    """The run goes on: other functions decide which jobs run."""
    file, old = "scheduling/job_scheduler.py", "        # get number of free jobs to submit\n"
    first = edited_snakemake(tmp_path / "packages", file, old, "")
    done = run(tmp_path, f"internals.check_snakemake()\n{PATCHED}{LOOKS}", "--cores", "1", first=first)
    assert timers(done)[1] == "{False} _schedule_reevalutation"


Scheduler = Callable[..., SimpleNamespace]


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    """A function that makes what a look uses of a scheduler; its pending looks end with the test."""
    from snakemake.scheduling.job_scheduler import JobRateLimiter
    from snakemake.settings.types import MaxJobsPerTimespan

    made = []

    def make(starts: list[float] = [], limit: int = 2, queue: bool = False, subsample: int | None = None):  # noqa: B006
        """``starts``: seconds since a job started, the longest first, of a limit of jobs in ten hours."""
        limiter = JobRateLimiter(MaxJobsPerTimespan(limit, "10h"))
        limiter._jobs = deque(time.time() - seconds for seconds in starts)
        dag = SimpleNamespace(has_unfinished_queue_input_jobs=lambda: queue)
        jobs = threading.Semaphore(0)
        one = SimpleNamespace(
            job_rate_limiter=limiter, subsample=subsample, workflow=SimpleNamespace(dag=dag), _open_jobs=jobs
        )
        made.append(one)
        return one

    yield make
    for one in made:
        if look := getattr(one, "_pending_look", None):
            look.cancel()


HOUR = 3600.0


def test_a_look_is_pending_where_jobs_may_start_without_an_event(internals: ModuleType, scheduler: Scheduler) -> None:
    """At the limit of jobs per time, of which a start that no longer counts opens a place; at a sample; at a queue."""
    for free in (scheduler(), scheduler([HOUR]), scheduler([HOUR] * 5, limit=6)):
        internals._look_again(free, HOUR)
        assert not hasattr(free, "_pending_look")
    for waits in (scheduler(subsample=10), scheduler(queue=True)):
        internals._look_again(waits, HOUR)
        assert 0.9 * HOUR < waits._pending_look.due - time.monotonic() <= HOUR
    limited = scheduler([9 * HOUR, HOUR])
    internals._look_again(limited, 10 * HOUR)
    assert 0.9 * HOUR < limited._pending_look.due - time.monotonic() <= HOUR
    ahead = scheduler([-5 * HOUR] * 2)  # the clock was set back: not later than Snakemake itself would look
    internals._look_again(ahead, 10 * HOUR)
    assert 9 * HOUR < ahead._pending_look.due - time.monotonic() <= 10 * HOUR


def test_at_most_one_look_is_pending_and_it_is_the_next(internals: ModuleType, scheduler: Scheduler) -> None:
    one = scheduler(queue=True)
    internals._look_again(one, HOUR)
    first = one._pending_look
    internals._look_again(one, 2 * HOUR)
    assert one._pending_look is first and first.daemon
    internals._look_again(one, HOUR / 2)
    sooner = one._pending_look
    first.join(60)
    assert sooner is not first and not first.is_alive() and sooner.is_alive()
    # One whose time has come may be looking right now, at what was known before: it does not count.
    sooner.due = time.monotonic()
    internals._look_again(one, HOUR)
    assert one._pending_look is not sooner
    assert not one._open_jobs.acquire(blocking=False)
    internals._look_again(one, 0.0)
    assert one._open_jobs.acquire(timeout=60)
