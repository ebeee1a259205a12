"""Who uses a cache: a file per run and per removal in ``<cache_dir>/.in-use``, so that nothing is removed under a run.

A run notes its use, then looks for a removal; a removal notes itself, then looks for runs. So one of the two sees the
other, whichever comes first. Notes are renewed; the note of a process that has ended does not count.
"""

import atexit
import logging
import os
import socket
import threading
from pathlib import Path

from ragrelay.errors import InputError
from ragrelay.io.atomic_files import ended, leftovers, make_folder, temporary_beside
from ragrelay.io.cache_mode import read_only

log = logging.getLogger(__name__)

FOLDER = ".in-use"
RENEWED_EVERY, DEAD_AFTER = 60.0, 600.0
"""Seconds between two signs of life of a note, and without one, after which the process of another node is dead."""
RUN, REMOVAL = "run", "removal"


class Use:
    """The note of this process in the cache, as ``kind``, from ``note`` to ``end`` or the end of the process."""

    def __init__(self, cache_dir: Path, kind: str) -> None:
        self.path = temporary_beside(cache_dir / FOLDER / kind)
        self._ended = threading.Event()

    def note(self) -> None:
        """Write the note, and renew it from now on. Raises OSError where the cache may not be written to."""
        make_folder(self.path.parent)
        self.path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        atexit.register(self.end)
        threading.Thread(target=self._renew, daemon=True).start()

    def end(self) -> None:
        """Remove the note of this process."""
        self._ended.set()
        self.path.unlink(missing_ok=True)

    def others(self, kind: str) -> list[str]:
        """Living processes of ``kind``, in words. Ages are by the file system's clock, as this note's time has it."""
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


def note_run(cache_dir: Path) -> None:
    """Note that this process runs a study with the cache. Raises InputError while something is removed from it.

    In a cache that may not be written to there is no note.
    """
    if read_only():
        return
    use = Use(cache_dir, RUN)
    try:
        use.note()
    except OSError as error:
        log.info("%s: no note (%s)", use.path, error)
        return
    if removing := use.others(REMOVAL):
        use.end()
        found = f"a cache from which {removing[0]} removes what is not needed"
        raise InputError(f"config key 'cache_dir' ({cache_dir})", found, "the same command when it has ended")
