"""A study on the brink of generating: everything else is done, so that a fault hits the answers."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl
import psutil
from ragrelay.generation.store import AnswerStore

from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_for

# One answer after the other, each a part of its own, so that a kill at any moment finds some made and some not.
SLOWLY = {"threads": 2, "max_num_seqs": 1, "flush_seconds": 0}
ASKED = 48
"""Answers of one retriever: 8 queries, 3 different contexts (two k, two orderings), 2 seeds."""
ANSWERS = "small/answers/demo-lm/rel"


class Faulty:
    """A copy of a finished study without the answers of its retriever ``rel``.

    The store has all answers of the others. ``target`` is what makes those of ``rel``: one job that generates, one that
    writes the cells.
    """

    def __init__(self, study: Sandbox, undisturbed: Sandbox, **generator: Any) -> None:
        self.study, self.finished, self.undisturbed = study, undisturbed, undisturbed.contents()
        self.target = f"results/small/{ANSWERS}/descending/k1/seed1.parquet"
        self.log = study.folder / "logs/small/generate_answers/small/demo-lm/shard0.log"
        study.config["generators"] = {"demo-lm": {**SLOWLY, **generator}}
        study.write_config()
        for folder in (self.store, study.results / ANSWERS, study.results / "small/generated/demo-lm"):
            shutil.rmtree(folder)
        self.others = self._fill("anti", 1)
        self.log.unlink()
        self.logs: list[Path] = []

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

    def fill(self, parts: int) -> None:
        """Put the undisturbed run's answers of ``rel`` into the store, in so many parts."""
        self._fill("semi", parts)

    def _fill(self, which: Literal["semi", "anti"], parts: int) -> int:
        """Put answers to the prompts of ``rel``, or to all others, into the store; their number."""
        [made] = self.finished.folder.glob("cache/answers/*")
        asked = pl.read_parquet(list(self.finished.results.glob("small/prompts/tian2025/rel/*/*.parquet")))
        source, target = (AnswerStore(made.parents[1], made.name), AnswerStore(self.store.parent, made.name))
        rows = pl.read_parquet(source.parts()).join(asked, on="prompt_id", how=which)
        metadata = {name: value for name, value in source.metadata(source.parts()[0]).items() if name != "written"}
        for place in range(parts):
            target.add(rows[place::parts], metadata)
        return len(rows)

    def disturb(
        self,
        moments: Sequence[int],
        how: Callable[[subprocess.Popen[str], psutil.Process], None],
        *arguments: str,
    ) -> str:
        """Run to the answers; call ``how(driver, generating process)`` whenever so many more are kept; the output.

        A moment of 0 is an engine that is still starting.
        """
        driver = self.study.start(self.target, *arguments)
        hit: list[psutil.Process] = []
        try:
            for moment in moments:
                hit.append(self._generating(driver, len(self.parts()) + moment, hit))
                how(driver, hit[-1])
                psutil.wait_procs(hit[-1:], timeout=60)
            driver.wait(timeout=900)
        finally:
            if driver.poll() is None:
                driver.kill()
        return self.output()

    def _generating(
        self, driver: subprocess.Popen[str], parts: int, before: Sequence[psutil.Process]
    ) -> psutil.Process:
        """The generating process, other than those ``before``, once there are so many ``parts``."""
        found: list[psutil.Process] = []

        def at_the_moment() -> bool:
            assert driver.poll() is None, f"over before its fault:\n{self.output()}"
            if len(self.parts()) >= parts:
                found[:] = [process for process in generating(driver.pid) if process not in before]
            return bool(found) and self.logs_attempt()

        wait_for("the moment of the fault", at_the_moment, 1800, self.output)
        self.keep_log()
        return found[0]

    def logs_attempt(self) -> bool:
        """Whether the attempt at work has logged what it found."""
        return self.log.exists() and "answers asked for" in self.log.read_text()

    def keep_log(self) -> None:
        """Give the attempt's log a second name: Snakemake removes a log before it starts the job again."""
        self.logs.append(self.study.folder / f"attempt{len(self.logs)}.log")
        os.link(self.log, self.logs[-1])

    def attempts(self) -> list["Attempt"]:
        """Every attempt that was hit, and the last."""
        return [attempt(log) for log in (*self.logs, self.log)]

    def output(self) -> str:
        return (self.study.folder / "output.txt").read_text()

    def check_recovery(self) -> None:
        """Run again: what an attempt kept, no later one makes again, and the files are those of an undisturbed run.

        What was lost is what an attempt had made since its last part: with SLOWLY the one answer it was at.
        """
        self.study.snakemake(self.target)
        logged = self.attempts()
        print(f"answers cached and made, by attempt: {[(attempt.cached, attempt.made) for attempt in logged]}")
        assert logged[0].cached == self.others
        for before, after in pairwise(logged):
            # A kill may come between the writing of an answer and its log line.
            assert 0 <= after.cached - (before.cached + before.made) <= 1, logged
        assert logged[-1].cached + logged[-1].made == self.others + ASKED
        keys = self.keys()
        assert keys.is_unique().all(), "an answer was made twice"
        assert len(keys) == self.others + ASKED
        assert self.study.contents() == self.undisturbed
        assert not list(self.study.folder.rglob(".tmp-*part-*"))


class Attempt(NamedTuple):
    """What one start of a generation job logged: answers in the store, and written to it."""

    cached: int
    made: int


def attempt(log: Path) -> Attempt:
    """What the last start of a generation job in ``log`` logged."""
    [*_, start] = re.split(r"(?=\b\d+ answers needed, \d+ cached)", log.read_text())
    cached = re.search(r"needed, (\d+) cached", start)
    made = re.findall(r"(\d+) of \d+ answers made", start)
    assert cached, f"no attempt in {log}"
    return Attempt(int(cached[1]), int(made[-1]) if made else 0)


def generating(driver: int) -> list[psutil.Process]:
    """The processes under ``driver`` that run generate_answers.py."""
    try:
        return [child for child in psutil.Process(driver).children(recursive=True) if generates(child)]
    except psutil.NoSuchProcess:
        return []


def generates(process: psutil.Process) -> bool:
    """Whether ``process`` runs generate_answers.py, and still does."""
    try:
        return "".join(process.cmdline()[-1:]).endswith("generate_answers.py")
    except psutil.NoSuchProcess:
        return False


def kill(driver: subprocess.Popen[str], process: psutil.Process) -> None:
    process.send_signal(signal.SIGKILL)
