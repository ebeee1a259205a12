"""Jobs and drivers that are killed: what was made is kept, and the same command goes on from there."""

import os
import random
import signal
import subprocess
from collections.abc import Callable

import psutil
import pytest

from tests.faults.study import Faulty, kill
from tests.sandbox import Sandbox

Copy = Callable[[], Sandbox]
QUICK, FULL = range(2), range(2, 12)


@pytest.mark.parametrize("seed", [*QUICK, *(pytest.param(seed, marks=pytest.mark.full) for seed in FULL)])
def test_kill_nine_at_a_random_moment(copied: Copy, finished: Sandbox, seed: int) -> None:
    faulty = Faulty(copied(), finished)
    # 0 kills an engine that is still starting; 64 answers are asked for, so that 55 leave something to do.
    after = random.Random(seed).randrange(56)
    output = faulty.disturb(after, kill)
    print(f"seed {seed}: killed after {after} answers, {len(faulty.parts())} parts kept")
    assert "the same command again goes on from there" in output
    faulty.check_recovery("all_answers")


def test_cancelled_as_slurm_does_it(copied: Copy, finished: Sandbox) -> None:
    """SIGTERM, also sent at a time limit: a part is written on the way out, though none is due for an hour."""
    faulty = Faulty(copied(), finished, flush_seconds=3600, max_num_seqs=1)
    output = faulty.disturb(1, lambda driver, process: process.send_signal(signal.SIGTERM))
    assert "ragrelay: error: stopped by SIGTERM: what was finished is kept" in output
    faulty.check_recovery("all_answers")


def test_control_c(copied: Copy, finished: Sandbox) -> None:
    """A terminal sends it to the whole process group."""
    faulty = Faulty(copied(), finished, ("bm25", "rel", "nrel"))
    output = faulty.disturb(20, lambda driver, process: os.killpg(driver.pid, signal.SIGINT))
    assert "stopped by an interrupt: what was finished is kept" in output
    faulty.check_recovery()


def test_killed_driver(copied: Copy, finished: Sandbox) -> None:
    """Its job ends with it; the next start names the one command that is needed."""
    faulty = Faulty(copied(), finished)

    def kill_driver(driver: subprocess.Popen[str], process: psutil.Process) -> None:
        driver.kill()
        psutil.wait_procs([process], timeout=60)
        assert not process.is_running()

    faulty.disturb(20, kill_driver)
    locked = faulty.study.snakemake("all_answers", check=False)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    faulty.study.snakemake("--unlock")
    faulty.check_recovery("all_answers")
