"""Note who uses a cache, in a file per run and per removal in ``<cache_dir>/.in-use``, so that no run loses files.

A run writes its note, then looks for a removal; a removal writes its note, then looks for runs. So at least one of the
two sees the other. Notes are renewed. The note of an ended process does not count.
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
"""Seconds between two signs of life of a note; seconds without one after which another node's process is dead."""
RUN, REMOVAL = "run", "removal"


class Use:
    """The note of this process in the cache, as ``kind``, from ``note`` to ``end`` or the end of the process."""

    def __init__(self, cache_dir: Path, kind: str) -> None:
        self.path = temporary_beside(cache_dir / FOLDER / kind)
        self._ended = threading.Event()

    def note(self) -> None:
        """Write the note and keep renewing it. Raises OSError if the cache can't be written to."""
        make_folder(self.path.parent)
        self.path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        atexit.register(self.end)
        threading.Thread(target=self._renew, daemon=True).start()

    def end(self) -> None:
        """Remove the note of this process."""
        self._ended.set()
        self.path.unlink(missing_ok=True)

    def others(self, kind: str) -> list[str]:
        """Describe the other living processes of ``kind``. Ages are by the file system's clock, read from this note."""
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
                log.warning("%s: not renewed (%s)", self.path, error)


@contextlib.contextmanager
def in_use(cache_dir: str | Path) -> Iterator[None]:
    """Do as note_run for a job, until the end of the context: it may go on after the run that submitted it."""
    use = note_run(Path(cache_dir))
    try:
        yield
    finally:
        if use is not None:
            use.end()


def note_run(cache_dir: Path) -> Use | None:
    """Note that this process runs a study with the cache. Raises InputError while a process removes files from it.

    A cache that can't be written to gets no note.
    """
    if read_only():
        return None
    use = Use(cache_dir, RUN)
    try:
        use.note()
    except OSError as error:
        log.info("%s: no note (%s)", use.path, error)
        return None
    if removing := use.others(REMOVAL):
        use.end()
        found = f"a cache from which {removing[0]} is removing files"
        raise InputError(f"config key 'cache_dir' ({cache_dir})", found, "the same command once that job has ended")
    return use
