"""Record the GPU-hours and tokens used by all jobs that run an engine, including failed and killed jobs.

Timing starts with the process that runs the job's script. The time therefore includes imports, but not the seconds that
SLURM and Snakemake need beforehand. While a job runs, its usage is written to a file next to the job's log.
"""

import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import process_state, write_json
from ragrelay.base.io.json_values import FAULTS

log = logging.getLogger(__name__)

RENEWED_EVERY = 30.0
"""Seconds between updates of a job's file; a killed job's time since the last update isn't counted."""
UNITS = {"gpu_hours": "GPU-hours", "tokens": "tokens"}
"""The units counted, as in the key `budget`; tokens are prompt tokens plus answer tokens."""


class _Use:
    def __init__(self, job_log: Path, gpus: int) -> None:
        self.path = job_log.with_name(f"{job_log.stem}.{uuid.uuid4().hex[:16]}.used.json")
        self.gpus, self.began, self.tokens = gpus, time.monotonic() - _age(), 0
        self.ended = threading.Event()

    def write(self) -> None:
        hours = (time.monotonic() - self.began) / 3600 * self.gpus
        try:
            write_json(dict(zip(UNITS, (hours, self.tokens), strict=True)), self.path)
        except OSError as error:
            log.warning("%s: can't write this file (%s), so a budget won't count this job", self.path, error)

    def renew(self) -> None:
        while not self.ended.wait(RENEWED_EVERY):
            self.write()


def _age() -> float:
    """Return the seconds since this process started, so that its imports count; 0 if unknown."""
    started = process_state(os.getpid())[1] / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started if started else 0.0


_USE: ContextVar[_Use | None] = ContextVar("use", default=None)


@contextmanager
def counted(job_log: str, gpus: int) -> Iterator[None]:
    """In a file next to ``job_log``, record the GPU-hours (on ``gpus`` GPUs) and tokens that a ``with`` block uses."""
    use = _Use(Path(job_log), gpus)
    use.write()
    renewing = threading.Thread(target=use.renew, daemon=True)
    renewing.start()
    token = _USE.set(use)
    try:
        yield
    finally:
        _USE.reset(token)
        use.ended.set()
        renewing.join()
        use.write()


def add_tokens(number: int) -> None:
    """Add ``number`` to this job's token count; do nothing outside a ``with counted`` block."""
    if use := _USE.get():
        use.tokens += number


def used_by_rule(logs: Path) -> dict[str, dict[str, float]]:
    """Return the GPU-hours and tokens used so far by each rule's jobs. ``logs``: the study's log folder."""
    sums: dict[str, dict[str, float]] = {}
    for path in sorted(logs.rglob("[!.]*.used.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            counts = {name: float(told[name]) for name in UNITS}
        except (*FAULTS, KeyError, TypeError):
            raise InputError(path, "a damaged usage record", "an intact file; restore or delete it") from None
        of_rule = sums.setdefault(path.relative_to(logs).parts[0], dict.fromkeys(UNITS, 0.0))
        for name, count in counts.items():
            of_rule[name] += count
    return sums


def used_in_all(logs: Path) -> dict[str, float]:
    """Return the GPU-hours and tokens used so far by all of the study's jobs."""
    by_rule = used_by_rule(logs).values()
    return {name: sum(of_rule[name] for of_rule in by_rule) for name in UNITS}
