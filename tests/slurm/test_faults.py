"""SLURM's own faults: a cancelled job, a time limit, a node that fails, an interrupted driver."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.faults.study import SLOWLY
from tests.sandbox import Sandbox
from tests.slurm.cluster import Cluster
from tests.slurm.study import SlurmStudy
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def slow(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> SlurmStudy:
    """The small study up to its prompts, with an engine that makes one answer after the other."""
    study = SlurmStudy(tmp_path_factory.mktemp("slurm-faults") / "study", cluster, **SLOWLY)
    Sandbox.snakemake(_local(study), "all_prompts")
    study.before = len(cluster.jobs())
    return study


def _local(study: SlurmStudy) -> Sandbox:
    local = Sandbox.__new__(Sandbox)
    local.__dict__.update(study.__dict__)
    return local


def cancel(cluster: Cluster, job: str) -> None:
    cluster.run("scancel", job)


def reach_the_time_limit(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "update", f"JobId={job}", "EndTime=now+1")


def fail_the_node(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "update", "NodeName=gpu1", "State=DOWN", "Reason=test")
    wait_for("the node to be down", lambda: cluster.node_states()["gpu1"].startswith("down"), 60)
    cluster.run("scontrol", "update", "NodeName=gpu1", "State=RESUME")
    cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")  # else it is held for two minutes


FAULTS: list[Callable[[Cluster, str], None]] = [cancel, reach_the_time_limit, fail_the_node]


def running(study: SlurmStudy) -> str | None:
    """The id of the GPU job that runs and has made an answer since the last fault."""
    queue = study.cluster.run("squeue", "--noheader", "--partition=gpu", "--states=RUNNING", "--format=%i").split()
    return queue[0] if queue else None


def test_each_fault_costs_a_retry_and_no_answer(slow: SlurmStudy, finished: Sandbox) -> None:
    """One run of the driver: the profile's retries and SLURM's requeueing bring all of it to its end."""
    driver = slow.start("all_answers")
    hit: list[str] = []
    for fault in FAULTS:
        parts = len(slow.parts())

        def at_work(parts: int = parts) -> bool:
            assert driver.poll() is None, (slow.folder / "output.txt").read_text()[-3000:]
            return len(slow.parts()) > parts + 2 and running(slow) is not None

        wait_for(f"an answer before {fault.__name__}", at_work, 600)
        hit.append(str(running(slow)))
        fault(slow.cluster, hit[-1])
        wait_for("the job to stop", lambda: running(slow) != hit[-1], 120)
    assert driver.wait(timeout=900) == 0, (slow.folder / "output.txt").read_text()[-3000:]
    states = {job["JobIDRaw"]: job["State"].split()[0] for job in slow.gpu_jobs()}
    assert (states[hit[0]], states[hit[1]]) == ("CANCELLED", "TIMEOUT")
    _check(slow, finished)


@pytest.mark.full
def test_interrupted_driver_cancels_its_jobs(slow: SlurmStudy, finished: Sandbox, tmp_path: Path) -> None:
    """Ctrl-C leaves nothing in the queue; the same command goes on from there."""
    for path in [*slow.parts(), *slow.results.glob("small/generated/**/*.json")]:
        path.unlink()
    driver = slow.start("all_answers")
    wait_for("some answers", lambda: len(slow.parts()) > 3, 600)
    os.killpg(driver.pid, signal.SIGINT)
    assert driver.wait(timeout=300) != 0
    wait_for("an empty queue", lambda: not slow.cluster.run("squeue", "--noheader").strip(), 60)
    slow.snakemake("all_answers")
    _check(slow, finished)


def _check(study: SlurmStudy, finished: Sandbox) -> None:
    keys = pl.read_parquet(study.parts(), columns=["prompt_id", "seed"])
    assert keys.is_unique().all(), "an answer was made twice"
    expected = {name: content for name, content in finished.tables().items() if "/answers/" in name}
    assert study.tables() == expected
