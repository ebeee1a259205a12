"""Claim rows of a store while a process makes them, so that no other makes the same.

A claim is advisory. A job that helps others skips rows that another process has claimed, and leaves them if the job
that needs them takes over its claim. If a claim is lost, or a file system shows it late, some rows are made twice, but
none is lost.
"""

import contextlib
import hashlib
import logging
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import polars as pl

from ragrelay.io.atomic_files import atomic, living_owner, temporary_beside

log = logging.getLogger(__name__)

RENEWED_EVERY, DEAD_AFTER = 10.0, 120.0
"""Seconds between two signs of life of a claim; seconds without one after which another node's process is dead."""
LOOKED_EVERY = 1.0
SHARE_OF_RUNTIME = 0.7
"""Share of a job's time limit after which it takes no more work of other jobs."""


def help_until(resources: Mapping[str, Any]) -> float:
    """Return the time (time.monotonic) until which a job that starts now takes work of others.

    ``resources``: the job's; without ``runtime`` (minutes), there is no limit.
    """
    limit = resources.get("runtime")
    return time.monotonic() + SHARE_OF_RUNTIME * 60 * limit if limit else math.inf


def remove_dead_claims(folder: Path) -> None:
    """Remove the claims of killed processes from a store's ``folder``, if it is writable."""
    for claim in folder.glob(".claim-*"):
        try:
            if not living_owner(claim, DEAD_AFTER):
                claim.unlink(missing_ok=True)
        except OSError as error:
            log.info("%s: left (%s)", claim, error)


def wait_for(claims: Sequence["Claim"], seconds: float) -> None:
    """Wait until no other process holds any of ``claims``, but at most ``seconds``."""
    end = time.monotonic() + seconds
    while any(claim.is_anothers for claim in claims) and time.monotonic() < end:
        time.sleep(LOOKED_EVERY)


class Claim:
    """A file in a store's ``folder`` that names the process making the rows with these ``keys``, one per row."""

    def __init__(self, folder: Path, keys: pl.DataFrame) -> None:
        rows = keys.sort(keys.columns).iter_rows()
        digest = hashlib.sha256("\n".join(" ".join(map(str, row)) for row in rows).encode())
        self.path = folder / f".claim-{digest.hexdigest()[:16]}"
        self.own = temporary_beside(self.path).name
        self._left, self._lost = threading.Event(), False

    @property
    def is_anothers(self) -> bool:
        """Whether another process, which may be alive, has claimed the rows."""
        return living_owner(self.path, DEAD_AFTER) not in ("", self.own)

    @property
    def is_held(self) -> bool:
        """Whether no other process has taken over the claim."""
        return not self._lost

    @contextlib.contextmanager
    def held(self) -> Iterator[Self]:
        """Claim the rows until the end of the context, even if another process has claimed them."""
        with atomic(self.path) as temporary:
            temporary.write_text(self.own, encoding="utf-8")
        self._lost = False
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
