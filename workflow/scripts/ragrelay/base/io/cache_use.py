"""Record which runs use a cache and which processes remove files from it, so that no run loses files.

Each run or removal writes a file in ``<cache_dir>/.in-use``, called a note. A run writes its note before looking for
removals; a removal writes its note before looking for runs. If a run and a removal overlap, at least one notices the
other. Running processes keep renewing their notes; notes that aren't renewed are ignored.
"""

import atexit
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import ended, leftovers, make_folder, temporary_beside
from ragrelay.base.io.cache_mode import read_only

log = logging.getLogger(__name__)

FOLDER = ".in-use"
RENEWED_EVERY, DEAD_AFTER = 60.0, 600.0
"""Seconds between renewals of a note, and seconds without one after which a process on another node counts as dead."""
RUN, REMOVAL = "run", "removal"


class Use:
    """This process's note in a cache, deleted by ``end`` or at exit. ``kind`` is `run` or `removal`."""

    def __init__(self, cache_dir: Path, kind: str) -> None:
        self.path = temporary_beside(cache_dir / FOLDER / kind)
        self._ended = threading.Event()

    def note(self) -> None:
        """Write the note and keep renewing it. Raises OSError if the cache isn't writable."""
        make_folder(self.path.parent)
        self.path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        atexit.register(self.end)
        threading.Thread(target=self._renew, daemon=True).start()

    def end(self) -> None:
        """Remove this process's note."""
        self._ended.set()
        self.path.unlink(missing_ok=True)

    def others(self, kind: str) -> list[str]:
        """List the other running processes that have a note of this ``kind``, each as ``process <id> on <host>``."""
        os.utime(self.path)
        now, owners = self.path.stat().st_mtime, []
        for path in leftovers(self.path.parent):
            try:
                age, owner = now - path.stat().st_mtime, path.read_text(encoding="utf-8")
            except FileNotFoundError:
                continue  # it has ended
            if path != self.path and path.name.endswith(f"-{kind}") and age <= DEAD_AFTER and not ended(path):
                owners.append(owner)
        return sorted(owners)

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED_EVERY):
            try:
                os.utime(self.path)
            except OSError as error:
                log.warning("%s: can't renew this note on cache use (%s)", self.path, error)


@contextlib.contextmanager
def in_use(cache_dir: str | Path) -> Iterator[None]:
    """Within the context, keep a note that a job is using the cache. Jobs may outlive the run that submitted them."""
    use = note_run(Path(cache_dir))
    try:
        yield
    finally:
        if use is not None:
            use.end()


def note_run(cache_dir: Path) -> Use | None:
    """Write and return a note that a run is using the cache. Returns None if the cache isn't writable.

    Raises InputError if another process is removing files from the cache.
    """
    if read_only():
        return None
    use = Use(cache_dir, RUN)
    try:
        use.note()
    except OSError as error:
        log.info("%s: can't write this note on cache use (%s)", use.path, error)
        return None
    if removing := use.others(REMOVAL):
        use.end()
        found = f"a cache from which {removing[0]} is removing files"
        raise InputError(f"config key 'cache_dir' ({cache_dir})", found, "no such job; try again after it ends")
    return use
