"""A study on the brink of generating: everything else is done, so that a fault hits the answers."""

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import psutil

from tests.sandbox import Sandbox
from tests.waiting import wait_for

# One answer after the other, each a part of its own, so that a kill at any moment finds some made and some not.
SLOWLY = {"threads": 2, "max_num_seqs": 1, "flush_seconds": 0}


class Faulty:
    """A copy of a finished study without its answers, its grid cut to ``retrievers``, to be disturbed and run again."""

    def __init__(
        self, study: Sandbox, undisturbed: Sandbox, retrievers: Sequence[str] = ("rel",), **generator: Any
    ) -> None:
        self.study, self.retrievers = study, retrievers
        self.undisturbed = undisturbed.tables()
        study.config["grid"] = {**study.config["grid"], "retrievers": list(retrievers)}
        study.config["generators"] = {"demo-lm": {**SLOWLY, **generator}}
        study.write_config()
        shutil.rmtree(study.folder / "cache/answers")
        for made in ("answers", "generated", "scores", "utility", "analysis"):
            shutil.rmtree(study.results / "small" / made)
        shutil.rmtree(study.results / "report")
        shutil.rmtree(study.folder / "logs/small/generate_answers")

    @property
    def store(self) -> Path:
        return self.study.folder / "cache/answers"

    def parts(self) -> list[Path]:
        return sorted(self.store.glob("*/part-*.parquet"))

    def keys(self) -> pl.DataFrame:
        """prompt_id and seed of every row of every part."""
        parts = self.parts()
        empty = pl.DataFrame(schema={"prompt_id": pl.String, "seed": pl.Int64})
        return pl.read_parquet(parts, columns=["prompt_id", "seed"]) if parts else empty

    def disturb(self, after: int, how: Callable[[subprocess.Popen[str], psutil.Process], None]) -> str:
        """Run to the answers, call ``how(driver, generating process)`` once ``after`` answers are kept; the output."""
        driver = self.study.start("all_answers")
        found: list[psutil.Process] = []

        def at_the_moment() -> bool:
            assert driver.poll() is None, f"over before its fault:\n{self.output()}"
            found[:] = generating(driver.pid) if len(self.parts()) >= after else []
            return bool(found)

        try:
            wait_for("the moment of the fault", at_the_moment, 1800, self.output)
            how(driver, found[0])
            driver.wait(timeout=900)
            psutil.wait_procs(found, timeout=60)
        finally:
            if driver.poll() is None:
                driver.kill()
        return self.output()

    def expected_answers(self) -> dict[str, bytes]:
        """The undisturbed study's answer files of this one's retrievers."""
        folders = tuple(f"small/answers/demo-lm/{name}/" for name in ("zeroshot", *self.retrievers))
        return {name: content for name, content in self.undisturbed.items() if name.startswith(folders)}

    def output(self) -> str:
        return (self.study.folder / "output.txt").read_text()

    def check_recovery(self, *arguments: str) -> None:
        """Run again: what an attempt wrote, no later one makes again, and the files are those of an undisturbed run.

        What was lost is what the last attempt had made since its last part: with SLOWLY one answer at most.
        """
        self.study.snakemake(*arguments)
        keys = self.keys()
        assert keys.is_unique().all(), "an answer was made twice"
        logged = attempts(self.study)
        assert sum(attempt.made for of_job in logged for attempt in of_job) == len(keys)
        for of_job in logged:
            for before, after in pairwise(of_job):
                assert after.held == before.held + before.made, of_job
            assert of_job[-1].held + of_job[-1].made == of_job[-1].asked
        assert self.study.tables() == (self.expected_answers() if arguments else self.undisturbed)
        assert not list(self.study.folder.rglob(".tmp-*part-*"))


class Attempt(NamedTuple):
    """What one start of a generation job logged: answers asked for, held in the store, and written to it."""

    asked: int
    held: int
    made: int


def attempts(study: Sandbox) -> list[list[Attempt]]:
    """Every start of every generation job since the answers were removed, by job, in order."""
    found = []
    for log in sorted(study.folder.glob("logs/small/generate_answers/**/*.log")):
        starts = re.split(r"(\d+) answers asked for, (\d+) held, \d+ to make", log.read_text())[1:]
        counted = [re.findall(r"(\d+) of \d+ answers made", text) for text in starts[2::3]]
        found.append(
            [
                Attempt(int(asked), int(held), int(made[-1]) if made else 0)
                for asked, held, made in zip(starts[::3], starts[1::3], counted, strict=True)
            ]
        )
    return [of_job for of_job in found if of_job]


def generating(driver: int) -> list[psutil.Process]:
    """The processes under ``driver`` that run generate_answers.py."""
    try:
        children = psutil.Process(driver).children(recursive=True)
        return [child for child in children if child.cmdline() and child.cmdline()[-1].endswith("generate_answers.py")]
    except psutil.NoSuchProcess:
        return []


def kill(driver: subprocess.Popen[str], process: psutil.Process) -> None:
    process.send_signal(signal.SIGKILL)
