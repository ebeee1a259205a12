"""Snakemake as a job of the cluster (slurm/submit.sh), and in an allocation."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.sandbox import ROOT, Sandbox
from tests.support.slurm_study import DRIVER, FASTER, SlurmStudy
from tests.support.waiting import wait_for

RUN = "results/small/small/runs/rel.run.gz"


@pytest.fixture
def study(cluster: Cluster, tmp_path: Path) -> SlurmStudy:
    return SlurmStudy.of(Sandbox(tmp_path / "study"), cluster)


@pytest.fixture
def held(study: SlurmStudy) -> Iterator[Callable[[], None]]:
    """Starts no job on cpu1 until it is called; those that run there go on."""
    state = ("scontrol", "update", "NodeName=cpu1")
    yield lambda: study.cluster.ask(*state, "State=RESUME") and None
    study.cluster.ask(*state, "State=RESUME")


EAGER = f'exec {sys.executable} -P {ROOT / DRIVER} "$@"'
"""Snakemake, which asks for its jobs' states every second."""
FORGETFUL = """
while [ "$1" != --slurm-jobname-prefix ]; do shift; done
trap 'exit 1' INT
sbatch --hold --account="$SLURM_JOB_ACCOUNT" --job-name="${2}_x" --wrap=true
sleep 900 & wait
"""
"""A stand-in for Snakemake that is interrupted before it knows the id of the job that it submits."""


def submit(study: SlurmStudy, *options: str, program: str = EAGER) -> str:
    """The id of the job, in which ``program`` is Snakemake."""
    eager = study.folder / "bin/snakemake"
    eager.parent.mkdir()
    eager.write_text(f"#!/bin/sh\n{program}\n")
    eager.chmod(0o755)
    path = f"--export=ALL,PYTHONPATH=,PATH={eager.parent}:{study.cluster.environment['PATH']}"
    command = [
        "sbatch",
        "--parsable",
        f"--chdir={study.folder}",
        "--output=submit.log",
        f"--account={study.cluster.account}",
    ]
    script = [str(study.folder / "profiles/slurm/submit.sh"), RUN, *FASTER, "--configfile", "small.yaml"]
    return study.cluster.run(*command, path, *options, *script).strip()


def queue(study: SlurmStudy, job: str) -> list[str]:
    """The jobs in the queue that the job submitted."""
    lines = study.cluster.run("squeue", "--noheader", "--format=%i %j").splitlines()
    return [line.split()[0] for line in lines if line.split()[1].startswith(f"ragrelay-{job}_")]


def state(study: SlurmStudy, job: str) -> str:
    return study.cluster.told(job)["JobState"]


def hold(study: SlurmStudy, job: str) -> None:
    wait_for("the job to run", lambda: state(study, job) == "RUNNING", 30)
    study.cluster.run("scontrol", "update", "NodeName=cpu1", "State=DRAIN", "Reason=test")
    wait_for("a job of it", lambda: queue(study, job), 90)


def test_queued_again_it_cancels_what_nobody_waits_for_and_goes_on(study: SlurmStudy, held: Callable[[], None]) -> None:
    """By SLURM's own requeueing, as after a preemption: it kills Snakemake."""
    job = submit(study)
    hold(study, job)
    before = queue(study, job)
    study.cluster.run("scontrol", "requeue", job)
    wait_for("the job to be queued again", lambda: state(study, job) == "PENDING", 90)
    held()
    study.cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")  # else it is held for two minutes
    wait_for("its end", lambda: state(study, job) in ("COMPLETED", "FAILED"), 200)
    log = (study.folder / "submit.log").read_text()
    assert state(study, job) == "COMPLETED", log[-3000:]
    assert (study.folder / RUN).exists() and log.count("SLURM run ID: ragrelay-") == 2
    assert {study.cluster.told(one)["JobState"] for one in before} == {"CANCELLED"}


@pytest.mark.parametrize("way", ["scancel", "time limit"])
def test_ended_it_cancels_its_jobs_and_leaves_no_lock(study: SlurmStudy, held: Callable[[], None], way: str) -> None:
    job = submit(study)
    hold(study, job)
    if way == "scancel":
        study.cluster.run("scancel", job)
    else:  # what SLURM sends before it, by --signal
        study.cluster.run("scancel", "--batch", "--signal=USR1", job)
    wait_for("its jobs to be cancelled", lambda: not queue(study, job), 200)
    ended = "CANCELLED" if way == "scancel" else "PENDING"
    wait_for(f"the job to be {ended}", lambda: state(study, job) == ended, 200)
    study.cluster.run("scancel", job)
    assert "--signal=B:USR1@" in (ROOT / "profiles/slurm/submit.sh").read_text()
    assert not list((study.folder / ".snakemake/locks").glob("*"))


def test_ended_it_cancels_a_job_that_snakemake_does_not_know_yet(study: SlurmStudy) -> None:
    job = submit(study, program=FORGETFUL)
    wait_for("a job of it", lambda: queue(study, job), 90)
    study.cluster.run("scancel", job)
    wait_for("its job to be cancelled", lambda: not queue(study, job), 200)


def test_in_an_allocation(study: SlurmStudy) -> None:
    """As docs/cluster.md prints it, with this study's options."""
    [command] = re.findall(r"^salloc .*$", (ROOT / "docs/cluster.md").read_text(), re.MULTILINE)
    command = command.replace("--partition=gpu", f"--partition=gpu --account={study.cluster.account}")
    command = command.replace("config/paper.yaml", "small.yaml").replace(" --configfile", f" {RUN} --configfile")
    study.cluster.environment, kept = {**study.environment(), "PWD": str(study.folder)}, study.cluster.environment
    try:
        study.cluster.run("bash", "-c", f"cd {study.folder} && {command}")
    finally:
        study.cluster.environment = kept
    assert (study.folder / RUN).exists()
    # A record that slurmdbd is just writing is in no queue.
    wait_for("the record of the allocation", lambda: bool(study.jobs()), 60)
    assert {job["NodeList"] for job in study.jobs()} == {"gpu1"}
