"""Write files and folders atomically, under temporary names until they are complete."""

import functools
import json
import logging
import os
import re
import shutil
import socket
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from ragrelay.base.io.hashing import value_hash

log = logging.getLogger(__name__)
OWNED = re.compile(r"\.tmp-(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-(?P<start>\d+)-[0-9a-f]{8}-.+")
_swept: set[Path] = set()


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``. The file is renamed to ``path`` on success and removed on any error.

    The temporary name starts with a dot, so that jobs that look for files such as ``part-*.parquet`` ignore it. The
    name ends with the suffix of ``path`` (such as ``.gz``), because some writers infer the format from the suffix.
    """
    path = Path(path)
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        yield temporary
        _share(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary path for a new folder, then rename the folder to ``path`` unless ``path`` already exists."""
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        yield temporary
        for made in (temporary, *temporary.rglob("*")):
            _share(made)
        try:
            temporary.rename(path)
        except OSError:
            if not path.is_dir():
                raise
            log.info("%s: already written by another job", path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents."""
    if not path.is_dir():
        make_folder(path.parent)
        try:
            path.mkdir()
        except FileExistsError:
            return  # another job was first
        _share(path)


def _share(path: Path) -> None:
    """If the parent folder is group-writable, give the group all rights to a folder, or read access to a file.

    In a cache that a group shares, nobody's umask should decide who may read, remove and replace files. Folders with
    the sticky bit, such as /tmp, are excepted because each user's files there belong to that user.
    """
    if path.is_symlink() or path.parent.stat().st_mode & (stat.S_IWGRP | stat.S_ISVTX) != stat.S_IWGRP:
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if (shared := mode | (stat.S_IRWXG if path.is_dir() else stat.S_IRGRP)) != mode:
        path.chmod(shared)


def remove_folder(path: Path) -> None:
    """Delete a folder, after renaming it so that other jobs never see it half deleted."""
    aside = temporary_beside(path)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return  # another job was first
    shutil.rmtree(aside, ignore_errors=True)


def write_parquet(frame: pl.DataFrame, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """Atomically write ``frame`` as Parquet with zstd compression and optional key-value ``metadata``."""
    with atomic(path) as temporary:
        frame.write_parquet(temporary, compression="zstd", metadata=dict(metadata) if metadata else None)


def write_csv(frame: pl.DataFrame, path: str | Path, bom: bool = False) -> None:
    """Atomically write a table as CSV with a header. Nulls become empty fields.

    Args:
        frame: The table to write.
        path: The file to write or replace.
        bom: Whether to begin with a byte-order mark, which Excel needs to recognise UTF-8.
    """
    with atomic(path) as temporary:
        frame.write_csv(temporary, include_bom=bom)


def write_spreadsheet(frame: pl.DataFrame, path: str | Path, bom: bool = False) -> None:
    """Write a CSV file in which texts such as ``=1+1`` start with an apostrophe, so that they aren't read as formulas.

    Numbers stored as text, such as ``-1``, stay unchanged.
    """
    text = pl.col(pl.String)
    starts = r"^[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}\t\r\n]"
    formula = text.str.contains(starts) & ~text.str.contains(r"^[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    write_csv(frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep()), path, bom)


def write_text(text: str, path: str | Path) -> None:
    """Atomically write ``text`` as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(value: object, path: str | Path) -> None:
    """Atomically write ``value`` as indented JSON with sorted keys."""
    write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", path)


def temporary_beside(path: Path) -> Path:
    """Return a temporary path next to ``path``. Its name identifies this process and ends with the name of ``path``.

    The first call for a folder also removes temporary files of dead processes, because killed jobs can't clean up.
    """
    if path.parent not in _swept:
        _swept.add(path.parent)
        for leftover in leftovers(path.parent):
            if ended(leftover):
                remove(leftover)
    process = os.getpid()
    owner = f"{_machine()}-{process}-{process_state(process)[1]}"
    return path.with_name(f".tmp-{owner}-{uuid.uuid4().hex[:8]}-{path.name}")


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield every temporary file and folder in ``folder``, even if the process that created it is still running."""
    return folder.glob(".tmp-*")


def ended(temporary: Path) -> bool:
    """Return whether the process that created ``temporary`` is known to have ended.

    Processes on other nodes, or from before the last reboot, can't be checked and are assumed to be running.
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
        pass  # another user's process
    state, start = process_state(process)
    # Process ids are reused. A zombie has ended, although its parent doesn't know it yet.
    return state in ("Z", "X") or start not in (0, int(owner["start"]))


def remove(path: Path) -> None:
    """Remove a temporary file or folder, even if another job is removing it at the same time."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    log.info("%s: removed, because a killed job left it behind", path)


def process_state(process: int) -> tuple[str, int]:
    """Return a process's state and start time (clock ticks since boot), or ("", 0) if they can't be read.

    proc_pid_stat(5) describes the fields. Fields are counted from the last ``)``, because field 2 may contain spaces.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", 0
    return fields[0], int(fields[19])


@functools.cache
def _machine() -> str:
    """Return eight digits that identify where process ids are unique: a host since its boot, or a container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        boot, namespace = "", ""
    return value_hash([socket.gethostname(), boot, namespace], digits=8)
