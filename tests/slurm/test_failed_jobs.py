"""A job alone is ended by SLURM after a change, and not retried: the same command then makes what was to be made.

As tests/e2e/test_failed_jobs.py, where jobs are killed on this machine. `build_run` is a job of its own, the others are
in groups.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.slurm.test_faults import Fault, cancel, reach_the_time_limit
from tests.support.changes import Change, Changes, changed
from tests.support.cluster import Cluster
from tests.support.janitor import left
from tests.support.sandbox import Sandbox
from tests.support.slurm_study import SlurmStudy
from tests.support.waiting import wait_for

HELD = "import time, pathlib\nwhile pathlib.Path('hold').exists():\n    time.sleep(0.1)\n"
"""At the begin of a script: the job stays where it is while there is this file in the study's folder."""
CASES: dict[str, tuple[Change, str]] = {
    "build_run": (lambda study: study.entry("retrievers", "bm25", k1=0.01), "small/contexts/bm25.parquet"),
    "build_contexts": (
        lambda study: study.entry("retrievers", "nrel", seed=7),
        "small/prompts/tian2025/nrel/descending/k2.parquet",
    ),
    "compute_utility": (
        lambda study: study.entry("scorers", "minilm", utility="absolute"),
        "small/analysis/minilm/demo-lm/gain.csv",
    ),
}
"""Rule → a change that reaches it, and a file that follows it."""


def need_more_memory(cluster: Cluster, job: str) -> None:
    """The job fills NEEDED_MB: SLURM's own look at its processes (OverMemoryKill) kills its step, without cgroups."""


STATES: dict[Fault, str] = {cancel: "CANCELLED", reach_the_time_limit: "TIMEOUT", need_more_memory: "FAILED"}
NEEDED_MB, TOO_FEW_MB = 2000, 1000
FILLED = f"filled = bytearray(b'x') * {NEEDED_MB * 2**20}\n"
GROUP = ("build_contexts", "measure_retrieval", "build_prompts", "compute_utility", "analyse_transmission")
"""What may run in one job of the cluster with a rule of CASES."""


@pytest.fixture
def study(cluster: Cluster, copied: Callable[[], Sandbox]) -> Iterator[SlurmStudy]:
    yield SlurmStudy.of(copied(), cluster)
    cluster.run("scancel", "--user=root")
    wait_for("an empty queue", lambda: not cluster.run("squeue", "--noheader").strip(), 90)


def held_job(cluster: Cluster, rule: str) -> str:
    """The id of the job whose step runs the script of ``rule``; empty while there is none."""
    for process in left(cluster.folder):
        try:
            if "".join(process.cmdline()[-1:]).endswith(f".{rule}.py"):
                return process.environ()["SLURM_JOB_ID"]
        except psutil.NoSuchProcess:
            continue
    return ""


@pytest.mark.full
@pytest.mark.parametrize("fault", STATES, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("rule", CASES)
def test_the_same_command_after_a_job_was_ended(
    study: SlurmStudy, finished: Sandbox, tmp_path: Path, rule: str, fault: Fault
) -> None:
    change, name = CASES[rule]
    cluster, target, hold = study.cluster, f"results/small/{name}", study.folder / "hold"
    memory = ("--set-resources", *(f"{one}:mem_mb={TOO_FEW_MB}" for one in (rule, *GROUP)))

    def made(one: Changes) -> None:
        change(one)
        code = FILLED + HELD if fault is need_more_memory else HELD
        one.edit(f"workflow/scripts/{rule}.py", "with job_log", f"{code}with job_log")

    with changed(study, made):
        undisturbed = Sandbox.at(study.folder).copied_to(tmp_path / "undisturbed")
        undisturbed.snakemake(target)
        hold.touch()
        driver = study.start(target, "--retries", "0", *(memory if fault is need_more_memory else ()))
        try:
            wait_for("the job", lambda: bool(held_job(cluster, rule)), 300, (study.folder / "output.txt").read_text)
            job = held_job(cluster, rule)
            fault(cluster, job)
            assert driver.wait(timeout=900) != 0
        finally:
            driver.kill()
            hold.unlink()
        assert [one["State"].split()[0] for one in study.jobs() if one["JobIDRaw"] == job] == [STATES[fault]]
        said = [log.read_text() for log in (study.folder / "logs/slurm").rglob(f"{job}.log")]
        assert len(said) == 1 and ("exceeded memory limit" in said[0]) == (fault is need_more_memory), said
        study.snakemake(target, "--retries", "0")
        made_again = study.contents()
        assert made_again == undisturbed.contents()
        assert made_again[name] != finished.contents()[name], "the change matters"
