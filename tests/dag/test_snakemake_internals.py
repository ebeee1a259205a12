"""What the workflow uses of Snakemake without its documentation: each test fails where a new Snakemake has changed it.

Others: for `make_missing_files_again` see e2e/test_failed_jobs.py and dag/test_deleted.py, too; `leave_unlocked` is in
dag/test_status.py, `escape_log_messages` in dag/test_terminal.py.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.support.changes import CODE, changed
from tests.support.sandbox import ROOT, Sandbox, jobs_of
from tests.support.waiting import wait_for

BEFORE = "from ragrelay.jobs import snakemake_internals as internals\n"
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


def run(folder: Path, snakefile: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` on a workflow of its own."""
    (folder / "Snakefile").write_text(BEFORE + snakefile, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "4", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
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


TWO_JOBS = """
internals.escape_log_messages()

onerror:
    internals.print_failure("To be corrected.")

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
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    Path(snakemake.wildcards.name).touch()
    while not Path("fail").exists():
        time.sleep(0.1)
    raise ValueError("on purpose")
"""


@pytest.mark.parametrize("interrupted", [True, False])
def test_after_control_c_there_is_one_line(tmp_path: Path, interrupted: bool) -> None:
    """A terminal sends it to the whole process group. Snakemake's log has each job's end, and so has its own."""
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
    assert kept.read_text().count("Error in rule waits") == 2
    if interrupted:
        end = said.partition("Terminating processes on user request, this might take some time.\n")[2].splitlines()
        assert end[0].startswith("ragrelay: error: stopped by an interrupt: what was finished is kept; run the same"), (
            said
        )
        assert [line.partition(":")[0] for line in end[1:]] == ["Complete log(s)", "Elapsed time"], said
    else:
        assert said.count("Error in rule waits") == 2
        assert "To be corrected.ragrelay: what was finished is kept; fix the cause" in said


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


TOLD = """
onstart:
    for job in workflow.dag.needrun_jobs():
        print(job.rule.name, sorted(internals.inputs_to_make(workflow.dag, job)))
"""


def test_inputs_that_a_run_makes_anew(tmp_path: Path) -> None:
    """Not those that are there."""
    first = run(tmp_path, CHAIN.format("it") + TOLD)
    told = {"it_last ['it_middle.txt']", "it_middle ['it_first.txt']", "it_first []"}
    assert told <= {*first.stdout.splitlines()}
    (tmp_path / "it_last.txt").unlink()
    again = run(tmp_path, CHAIN.format("it") + TOLD)
    assert "it_last []" in again.stdout.splitlines() and "it_middle" not in again.stdout


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
