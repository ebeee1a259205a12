"""Jobs and drivers that are killed: what was made is kept, and the same command goes on from there."""

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable

import polars as pl
import psutil
import pytest

from tests.support.faulty import Faulty, kill
from tests.support.sandbox import Sandbox

Copy = Callable[[], Sandbox]


@pytest.mark.full
@pytest.mark.parametrize("seeds", [range(1, 13)], ids=len)
def test_kill_nine_at_random_moments(copied: Copy, finished: Sandbox, seeds: range) -> None:
    """Each attempt is killed and retried; after the last kill the message says what to do."""
    faulty = Faulty(copied(), finished)
    moments = [random.Random(seed).randrange(4) for seed in seeds]
    output = faulty.disturb(moments, kill, "--retries", str(len(seeds) - 1))
    assert output.count("died with <Signals.SIGKILL: 9>") == len(seeds)
    assert "the same command continues from there" in output
    faulty.check_recovery()


@pytest.mark.full
def test_cancelled_as_slurm_does_it(copied: Copy, finished: Sandbox) -> None:
    """SLURM sends SIGTERM, also at a time limit: the job writes what is finished on the way out."""
    faulty = Faulty(copied(), finished, flush_seconds=1)
    output = faulty.disturb([1], lambda driver, process: process.send_signal(signal.SIGTERM))
    assert "ragrelay: error: stopped by SIGTERM: finished work is kept" in output
    faulty.check_recovery()


@pytest.mark.full
def test_control_c(copied: Copy, finished: Sandbox) -> None:
    """A terminal sends it to the whole process group."""
    faulty = Faulty(copied(), finished)
    output = faulty.disturb([5], lambda driver, process: os.killpg(driver.pid, signal.SIGINT))
    assert "stopped by an interrupt: finished work is kept" in output
    faulty.check_recovery()


@pytest.mark.full
def test_killed_driver(copied: Copy, finished: Sandbox) -> None:
    """Its job ends with it; the next start names the one command that is needed."""
    faulty = Faulty(copied(), finished)

    def kill_driver(driver: subprocess.Popen[str], process: psutil.Process) -> None:
        driver.kill()
        psutil.wait_procs([process], timeout=60)
        assert not process.is_running()

    faulty.disturb([5], kill_driver)
    locked = faulty.study.snakemake(faulty.target, check=False)
    assert locked.returncode != 0
    assert "--unlock" in locked.stdout + locked.stderr
    faulty.study.snakemake("--unlock")
    faulty.check_recovery()


def without_answers(study: Sandbox) -> None:
    """Remove its answers from the cache, and what says that they were made."""
    shutil.rmtree(study.folder / "cache/answers")
    logs = study.folder / "logs/small/generate_answers"
    for path in [*(study.results / "small/generated").rglob("*.json"), *logs.rglob("*.log")]:
        path.unlink()


def stored_once(study: Sandbox) -> bool:
    """Whether every answer that is asked for is in the store, and once."""
    asked = pl.read_parquet(list(study.results.glob("small/prompts/**/*.parquet")))["prompt_id"].n_unique() * 2
    keys = pl.read_parquet(list(study.folder.glob("cache/answers/*/part-*.parquet")), columns=["prompt_id", "seed"])
    return keys.height == asked and bool(keys.is_unique().all())


@pytest.mark.full
def test_interrupted_study_reaches_the_same_report(copied: Copy, finished: Sandbox) -> None:
    """Everything from the answers on is made anew, and one retriever's answers are cut off on the way."""
    faulty = Faulty(copied(), finished)
    for made in ("answers", "generated", "scores", "utility", "analysis"):
        for path in (faulty.study.results / "small" / made).rglob("*"):
            if path.is_file():
                path.unlink()
    faulty.disturb([5], kill)
    faulty.study.snakemake()
    assert faulty.keys().is_unique().all()
    assert faulty.study.contents() == faulty.undisturbed
