"""A study on the brink of generating: everything else is done, so that a fault hits the answers."""

import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
        """Run again: no answer that was kept is made again, and the files are those of an undisturbed run."""
        kept = len(self.keys())
        self.study.snakemake(*arguments)
        keys = self.keys()
        assert keys.is_unique().all(), "an answer was made twice"
        receipts = self.study.receipts().values()
        assert len(keys) >= kept and sum(receipt["made"] for receipt in receipts) >= len(keys) - kept
        assert self.study.tables() == (self.expected_answers() if arguments else self.undisturbed)
        assert not list(self.study.folder.rglob(".tmp-*part-*"))


def generating(driver: int) -> list[psutil.Process]:
    """The processes under ``driver`` that run generate_answers.py."""
    try:
        children = psutil.Process(driver).children(recursive=True)
        return [child for child in children if child.cmdline() and child.cmdline()[-1].endswith("generate_answers.py")]
    except psutil.NoSuchProcess:
        return []


def kill(driver: subprocess.Popen[str], process: psutil.Process) -> None:
    process.send_signal(signal.SIGKILL)
