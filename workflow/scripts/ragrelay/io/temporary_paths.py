"""Names that files and folders have until they are whole, and the removal of those whose process has ended."""

import functools
import logging
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from ragrelay.io.hashing import value_hash

log = logging.getLogger(__name__)

OWNED = re.compile(r"\.tmp-(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-(?P<start>\d+)-[0-9a-f]{8}-.+")
_swept: set[Path] = set()


def temporary_beside(path: Path) -> Path:
    """A name next to ``path`` for what becomes ``path``: it says which process made it, and ends as ``path`` does.

    The first one in a folder removes what processes that have ended left there: a killed job removes nothing itself.
    """
    if path.parent not in _swept:
        _swept.add(path.parent)
        for leftover in leftovers(path.parent):
            if ended(leftover):
                remove(leftover)
    process = os.getpid()
    owner = f"{_machine()}-{process}-{_state(process)[1]}"
    return path.with_name(f".tmp-{owner}-{uuid.uuid4().hex[:8]}-{path.name}")


def leftovers(folder: Path) -> Iterator[Path]:
    """Everything in ``folder`` that has a temporary name, of living processes too."""
    return folder.glob(".tmp-*")


def ended(temporary: Path) -> bool:
    """Whether the process that made ``temporary`` is known to have ended.

    Only of processes of this machine, since its last start, can that be known; those of other nodes count as alive.
    """
    owner = OWNED.fullmatch(temporary.name)
    if owner is None or owner["machine"] != _machine():
        return False
    process = int(owner["process"])
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # another user's
    state, start = _state(process)
    # A number is used again; a zombie has ended, though its parent doesn't know yet.
    return state in ("Z", "X") or start not in (0, int(owner["start"]))


def living_owner(claim: Path, dead_after: float) -> str:
    """Return the process that wrote ``claim``, by its name in temporary files; empty if it is dead.

    ``dead_after``: seconds without a renewal after which a process of another node counts as dead.
    """
    try:
        age = time.time() - claim.stat().st_mtime
        owner = claim.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except PermissionError:
        owner = "another user"
    return "" if age > dead_after or ended(Path(owner)) else owner


def remove(path: Path) -> None:
    """Remove a leftover; another job may do so at the same time."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    log.info("%s: removed, left by a job that was killed", path)


def _state(process: int) -> tuple[str, int]:
    """State of a process and the time of its start, in clock ticks since the machine's; ("", 0) where unknown.

    Source: proc_pid_stat(5), fields 3 and 22; the name before them may contain blanks and parentheses.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", 0
    return fields[0], int(fields[19])


@functools.cache
def _machine() -> str:
    """Eight digits for where a process number means something: a host since its last start, or a container there."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot, namespace = "", ""
    return value_hash([socket.gethostname(), boot, namespace], digits=8)
