"""Let a running engine generate missing answers of other jobs, so that these need not start an engine.

The process that runs the workflow notes which generation jobs will run, and their prompt files. A job that has made all
its own answers reads the note. It ignores prompts that don't exist yet, or that this run will make again.

A job whose answers have a helper waits as long as an engine takes to start. Both then make pieces of them
(generation/pieces.py).
"""

import json
import logging
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from ragrelay.generation.requests import asked_keys
from ragrelay.io.atomic_files import write_json

log = logging.getLogger(__name__)

NOTE = Path(".snakemake/ragrelay-generation.json")
"""In the working folder, which all jobs of a run share."""
START_SECONDS = 120.0
"""How long a job waits for a helper if the start time of its engine is unknown."""


@dataclass(frozen=True)
class Noted:
    """A generation job of this run: its ``receipt``, its prompt files, and whether the run ``makes`` these.

    ``group``: dataset, generator and shard. Jobs of the same group may help each other.
    """

    receipt: str
    group: Sequence[str]
    name: str
    prompts: Sequence[str]
    makes: bool

    def is_ready(self, noted: int) -> bool:
        """Return whether this run's prompts exist. ``noted``: the time at which the note was written (ns)."""
        times = [Path(path).stat().st_mtime_ns for path in self.prompts]
        return not self.makes or min(times) >= noted


def note_jobs(jobs: Sequence[Noted]) -> None:
    """Write the note if there are any jobs."""
    if jobs:
        write_json([vars(job) for job in jobs], NOTE)


@dataclass(frozen=True)
class Others:
    """The other jobs in the group of the one that writes ``receipt``; all have the same ``seeds`` and ``shards``.

    ``until``: the time (time.monotonic) after which none of their work is taken.
    """

    receipt: str
    seeds: Sequence[int]
    shard: int
    shards: int
    until: float = math.inf

    @classmethod
    def none(cls) -> Self:
        return cls("", (), 0, 1)

    @property
    def time_left(self) -> bool:
        return time.monotonic() < self.until

    def asked(self) -> Iterator[tuple[Noted, pl.DataFrame]]:
        """Yield each of the other jobs whose prompts can be read now, with its requests (see asked_keys).

        Starts with the next job in the note, so that two helpers take different jobs.
        """
        try:
            noted = NOTE.stat().st_mtime_ns
            jobs = [Noted(**job) for job in json.loads(NOTE.read_text(encoding="utf-8"))]
        except FileNotFoundError:
            return
        for place, own in enumerate(jobs):
            if own.receipt == self.receipt:
                for other in (*jobs[place + 1 :], *jobs[:place]):
                    if other.group == own.group:
                        yield from self._asked(other, noted)

    def _asked(self, job: Noted, noted: int) -> Iterator[tuple[Noted, pl.DataFrame]]:
        try:
            if not job.is_ready(noted):
                return
            asked = asked_keys([Path(path) for path in job.prompts], self.seeds, self.shard, self.shards)
        except (OSError, pl.exceptions.PolarsError) as error:
            log.info("prompts of %s: left to their job (%s)", job.name, str(error).splitlines()[0])
            return
        yield job, asked
