"""All jobs of one rule are killed after a change, and nothing else; then the same command is given again."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from tests.support.forked_python import KILLED
from tests.support.sandbox import Sandbox, jobs_of


class Kill(NamedTuple):
    """How jobs end: by ``signal``, at their ``start`` or after ``amount`` ``renames`` or ``seconds`` (``unit``).

    Every attempt of every job does, with ``retries``, and so does the same command after it, ``times`` in all.
    """

    how: signal.Signals
    unit: str = "start"
    amount: float = 0
    times: int = 1
    retries: int = 0

    def __str__(self) -> str:
        moment = self.unit if self.unit == "start" else f"{self.amount:g} {self.unit}"
        return f"{self.how.name} {moment} ×{self.times} retries {self.retries}"


class Work(NamedTuple):
    """What a job had done when it was killed, or at its end."""

    rule: str
    renames: int
    seconds: float


class NotHitError(Exception):
    """A job ended before its moment."""


@contextmanager
def _jobs_noting(study: Sandbox, *where: object) -> Iterator[Path]:
    hits = study.folder / "hits.txt"
    hits.unlink(missing_ok=True)
    with patch.dict(os.environ, {KILLED: " ".join(map(str, (*where, hits)))}):
        yield hits


def _noted(hits: Path) -> list[Work]:
    lines = hits.read_text(encoding="utf-8").splitlines() if hits.exists() else []
    return [Work(rule, int(renames), float(seconds)) for rule, renames, seconds in map(str.split, lines)]


def run_measured(study: Sandbox, *arguments: str) -> list[Work]:
    """Run Snakemake without a disturbance; what each job did."""
    with _jobs_noting(study, "-", 0, "never", 0) as hits:
        study.snakemake(*arguments)
    return _noted(hits)


def run_with_kills(study: Sandbox, rule: str, targets: Sequence[str], kill: Kill) -> int:
    """Kill all jobs of ``rule`` while ``targets`` are made, then give the same command; the number of jobs hit.

    All of them must have failed each time, and run again in the end; then there is nothing to be done. Raises
    NotHitError where one ended before its moment.
    """
    command = [*targets, "--keep-going", "--retries", str(kill.retries)]
    planned = study.planned(*targets)[rule]
    for _ in range(kill.times):
        with _jobs_noting(study, rule, int(kill.how), kill.unit, kill.amount) as hits:
            failed = study.snakemake(*command, check=False)
        hit = _noted(hits)
        if len(hit) < planned * (kill.retries + 1):
            raise NotHitError(f"{len(hit)} of {planned} jobs with {kill.retries} retries")
        assert failed.returncode and f"Error in rule {rule}:" in failed.stdout + failed.stderr
        assert {work.rule for work in hit} == {rule}
    done = jobs_of(study.snakemake(*command))
    assert done.get(rule) == planned, f"{done.get(rule, 0)} of {planned} jobs of {rule} ran again"
    assert study.planned(*targets) == {}
    return planned
