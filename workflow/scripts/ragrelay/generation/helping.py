"""Let a running engine generate missing answers of other jobs, so that these need not start an engine.

The process that runs the workflow notes which generation jobs will run, and their prompt files. A job that has made all
its own answers reads the note. It ignores prompts that don't exist yet, or that this run will make again.

A claim on the answers of a job is advisory. A helper skips answers that another process has claimed. A job whose
answers have a helper waits as long as an engine takes to start, then claims them, and the helper stops. If a claim is
lost, or a file system shows it late, some answers are made twice, but none is lost.
"""

import contextlib
import hashlib
import json
import logging
import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl

from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import KEY
from ragrelay.io.atomic_files import atomic, living_owner, temporary_beside, write_json

log = logging.getLogger(__name__)

NOTE = Path(".snakemake/ragrelay-generation.json")
"""In the working folder, which all jobs of a run share."""
RENEWED_EVERY, DEAD_AFTER = 10.0, 120.0
"""Seconds between two signs of life of a claim; seconds without one after which another node's process is dead."""
LOOKED_EVERY = 1.0
START_SECONDS = 120.0
"""How long a job waits for a helper if the start time of its engine is unknown."""
SHARE_OF_RUNTIME = 0.7
"""Share of a job's time limit after which its engine takes no more work for other jobs."""


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


def remove_dead_claims(folder: Path) -> None:
    """Remove the claims of killed processes from a store's ``folder``, if it is writable."""
    for claim in folder.glob(".claim-*"):
        try:
            if not living_owner(claim, DEAD_AFTER):
                claim.unlink(missing_ok=True)
        except OSError as error:
            log.info("%s: left (%s)", claim, error)


class Claim:
    """A file in the store's ``folder`` that names the process working on the answers ``asked``."""

    def __init__(self, folder: Path, asked: pl.DataFrame) -> None:
        keys = asked.select(KEY).sort(KEY)
        digest = hashlib.sha256("\n".join(f"{prompt_id} {seed}" for prompt_id, seed in keys.iter_rows()).encode())
        self.path = folder / f".claim-{digest.hexdigest()[:16]}"
        self.own = temporary_beside(self.path).name
        self._left, self._lost = threading.Event(), False

    @property
    def is_anothers(self) -> bool:
        """Whether another process, which may be alive, has claimed the answers."""
        return living_owner(self.path, DEAD_AFTER) not in ("", self.own)

    @property
    def is_held(self) -> bool:
        """Whether no other process has taken over the claim."""
        return not self._lost

    def wait(self, seconds: float) -> None:
        """Wait until no other process claims the answers, but at most ``seconds``."""
        end = time.monotonic() + seconds
        while self.is_anothers and time.monotonic() < end:
            time.sleep(LOOKED_EVERY)

    @contextlib.contextmanager
    def held(self) -> Iterator[Self]:
        """Claim the answers until the end of the context, even if another process has claimed them."""
        with atomic(self.path) as temporary:
            temporary.write_text(self.own, encoding="utf-8")
        renewing = threading.Thread(target=self._renew, daemon=True)
        renewing.start()
        try:
            yield self
        finally:
            self._left.set()
            renewing.join()
            if self._is_own():
                self.path.unlink(missing_ok=True)

    def _is_own(self) -> bool:
        try:
            return self.path.read_text(encoding="utf-8") == self.own
        except FileNotFoundError:
            return False

    def _renew(self) -> None:
        while not self._left.wait(RENEWED_EVERY):
            try:
                self._lost = not self._is_own()
                if self._lost:
                    return
                os.utime(self.path)
            except OSError as error:
                log.warning("%s: not renewed (%s)", self.path, error)
