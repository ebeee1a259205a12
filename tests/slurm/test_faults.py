"""SLURM's own faults: a cancelled job, a time limit, a node that fails, an interrupted driver."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.faults.test_kills import stored_once, without_answers
from tests.support.cluster import Cluster
from tests.support.faulty import Faulty, generates
from tests.support.janitor import left
from tests.support.sandbox import Sandbox
from tests.support.slurm_study import SlurmStudy
from tests.support.waiting import wait_for

Copy = Callable[[], Sandbox]


def cancel(cluster: Cluster, job: str) -> None:
    cluster.run("scancel", job)


def reach_the_time_limit(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "update", f"JobId={job}", "EndTime=now+1")


def fail_the_node(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "update", "NodeName=gpu1", "State=DOWN", "Reason=test")
    wait_for("the node to be down", lambda: cluster.node_states()["gpu1"].startswith("down"), 60)


def resume_the_node(cluster: Cluster, job: str) -> None:
    # A node that failed comes back with no process and a new daemon; the old one refuses a job that it still ends.
    wait_for("the job's step to end", lambda: "slurmstepd" not in {one.name() for one in left(cluster.folder)}, 90)
    cluster.restart("gpu1")
    cluster.run("scontrol", "update", "NodeName=gpu1", "State=RESUME")
    cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now")  # else it is held for two minutes


Fault = Callable[[Cluster, str], None]
ENDS: dict[Fault, str] = {cancel: "CANCELLED", reach_the_time_limit: "TIMEOUT", fail_the_node: "COMPLETED"}
"""What sacct says of a job in the end, by its fault: after a node's, SLURM queues it again under the same id."""


def stop(cluster: Cluster, driver: subprocess.Popen[str]) -> None:
    """End what a test that failed leaves, or the next one finds it in its queue."""
    driver.kill()
    driver.wait()
    cluster.run("scancel", "--user=root")
    wait_for("an empty queue", lambda: not cluster.run("squeue", "--noheader").strip(), 90)


def running(cluster: Cluster) -> str:
    """The id of the job that runs on the GPUs."""
    return cluster.run("squeue", "--noheader", "--partition=gpu", "--states=RUNNING", "-o%i").strip()


class Submitted(Faulty):
    """Its job runs on the cluster."""

    study: SlurmStudy

    def __init__(self, study: SlurmStudy, undisturbed: Sandbox) -> None:
        super().__init__(study, undisturbed)
        self.cluster = study.cluster
        self.driver: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        self.driver = self.study.start(self.target)
        return self.driver

    def stop(self) -> None:
        if self.driver:
            stop(self.cluster, self.driver)

    def job_at_work(self) -> tuple[str, psutil.Process]:
        """The running job's id and its process, which is held in mid-work once it has made an answer or more."""
        parts, found = len(self.parts()), list[psutil.Process]()

        def at_work() -> bool:
            found[:] = [one for one in left(self.cluster.folder) if generates(one)]
            return bool(found) and len(self.parts()) > parts and self.logs_attempt()

        wait_for("an answer", at_work, 900, self.output)
        # SLURM's limits are looked at twice a minute: the answers would all be made by then.
        found[0].suspend()
        self.keep_log()
        return running(self.cluster), found[0]


@pytest.fixture
def submitted_job(cluster: Cluster, copied: Copy, finished: Sandbox) -> Iterator[Submitted]:
    submitted = Submitted(SlurmStudy.of(copied(), cluster), finished)
    yield submitted
    submitted.stop()


@pytest.mark.full
@pytest.mark.parametrize("faults", [[cancel], list(ENDS)], ids=len)
def test_each_fault_costs_a_retry_and_no_answer(submitted_job: Submitted, faults: list[Fault]) -> None:
    """One run of the driver: the profile's retries and SLURM's requeueing bring it to its end."""
    cluster = submitted_job.cluster
    driver = submitted_job.start()
    hit: list[str] = []
    for fault in faults:
        job, process = submitted_job.job_at_work()
        fault(cluster, job)
        psutil.wait_procs([process], timeout=180)
        assert not process.is_running()
        hit.append(job)
    if fail_the_node in faults:
        resume_the_node(cluster, hit[-1])
    assert driver.wait(timeout=900) == 0, submitted_job.output()[-3000:]
    states = {job["JobIDRaw"]: job["State"].split()[0] for job in submitted_job.study.gpu_jobs()}
    assert [states[job] for job in hit] == [ENDS[fault] for fault in faults]
    assert list(states.values()).count("COMPLETED") == 1, states
    assert len({log.stat().st_ino for log in (*submitted_job.logs, submitted_job.log)}) == len(faults) + 1
    # The cancelled and the timed-out job were told to end, and said so.
    for fault, log in zip(faults, submitted_job.logs, strict=True):
        assert fault is fail_the_node or "stopped by SIGTERM: finished work is kept" in log.read_text()
    submitted_job.check_recovery()


@pytest.mark.full
def test_interrupted_driver_cancels_its_jobs(submitted_job: Submitted) -> None:
    """Ctrl-C leaves nothing in the queue; the same command goes on from there."""
    driver = submitted_job.start()
    submitted_job.job_at_work()
    os.killpg(driver.pid, signal.SIGINT)
    assert driver.wait(timeout=900) != 0
    wait_for("an empty queue", lambda: not submitted_job.cluster.run("squeue", "--noheader").strip(), 60)
    submitted_job.check_recovery()


@pytest.mark.full
def test_killed_driver(submitted_job: Submitted) -> None:
    """Its job lives on and ends by itself; then the one command that the message names, and the same again."""
    study = submitted_job.study
    driver = submitted_job.start()
    _, process = submitted_job.job_at_work()
    driver.kill()
    driver.wait()
    process.resume()
    wait_for("an empty queue", lambda: not study.cluster.run("squeue", "--noheader").strip(), 300)
    locked = study.snakemake(submitted_job.target, check=False)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    study.snakemake("--unlock")
    submitted_job.check_recovery()


@pytest.mark.full
def test_one_engine_start_per_shard(cluster: Cluster, copied: Copy, finished: Sandbox) -> None:
    """For all retrievers and zero-shot; each prompt that two of them share is answered once."""
    study = SlurmStudy.of(copied(), cluster)
    without_answers(study)
    study.config["generators"] = {"demo-lm": {"threads": 2}}
    study.config["datasets"]["small"]["shards"] = 2
    study.write_config()
    study.snakemake("all_answers")
    receipts = study.receipts()
    assert list(receipts) == ["demo-lm/shard0", "demo-lm/shard1"] and len(study.gpu_jobs("COMPLETED")) == 2
    assert all("engine" in receipt for receipt in receipts.values())
    assert stored_once(study)
    assert study.tables() == finished.tables()
