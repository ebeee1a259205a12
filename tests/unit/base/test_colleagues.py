"""A store that two users of a group write to, with umasks that shut everybody else out, and in which one is killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.io import part_index
from ragrelay.base.io.parquet_parts import PartStore

from tests.support.sandbox import ROOT

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be several users"),
]

GROUP, FIRST, SECOND = 64_000, 64_001, 64_002
KEYS = pl.DataFrame({"key": ["a", "b", "c", "d"]})

JOB = """
import os, signal, sys, tempfile
sys.path.insert(0, "workflow/scripts")
from pathlib import Path
import polars as pl
from ragrelay.base.io.parquet_parts import PartStore

def work(store, rows, user):
    if rows == "join":
        store.join()
        store.remove_replaced(grace=0)
    else:
        store.add(pl.DataFrame({"key": [*rows], "value": [user] * len(rows)}), {"engine": "x"})

def store_in(folder):
    return PartStore(Path(folder), {"key": pl.String, "value": pl.Int64}, ["key"])

folder, rows, (user, group, changes) = Path(sys.argv[1]), sys.argv[2], map(int, sys.argv[3:])
with tempfile.TemporaryDirectory() as tried:  # what is imported late may be out of the user's reach
    for one in ("a", "b", "join"):
        work(store_in(tried), one, 0)
os.umask(0o077)
os.setgroups([])
os.setgid(group)
os.setuid(user)

def until_killed(name):
    unhurt = getattr(Path, name)
    def change(path, *arguments, **options):
        global changes
        if changes == 0:
            if name == "write_bytes":
                unhurt(path, arguments[0][: len(arguments[0]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        changes -= 1
        return unhurt(path, *arguments, **options)
    setattr(Path, name, change)

for name in ("write_bytes", "replace", "unlink"):
    until_killed(name)
work(store_in(folder), rows, user)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a store's folder in a cache that is shared as docs/commands.md says: `chmod g+ws cache`."""
    for above in (tmp_path, *tmp_path.parents):  # pytest's folders are its user's alone
        if above == Path(tempfile.gettempdir()):
            break
        above.chmod(above.stat().st_mode | 0o011)
    cache = tmp_path / "cache"
    cache.mkdir()
    os.chown(cache, FIRST, GROUP)
    cache.chmod(0o2770)
    return cache / "answers/store"


def job(folder: Path, user: int, rows: str, changes: int = -1) -> bool:
    """Have ``user`` add ``rows``, or join the parts (`join`); killed after so many changes. Whether it was killed."""
    arguments = [str(folder), rows, *map(str, (user, GROUP, changes))]
    done = subprocess.run([sys.executable, "-c", JOB, *arguments], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def seen(folder: Path) -> list[tuple[str, int]]:
    """Every row that a reader finds of KEYS, by who made it."""
    store = PartStore(folder, {"key": pl.String, "value": pl.Int64}, ["key"])
    return sorted(store.read(store.held(KEYS)).rows())


def test_a_colleagues_kill_loses_and_doubles_no_row_and_stops_nobody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_index, "read_only", lambda: True)  # this process only looks; jobs write the index
    job(folder, FIRST, "ab")
    before = [("a", FIRST), ("b", FIRST)]
    for changes in (0, 1):  # half of a part is written, then a whole one that has no name yet
        assert job(folder, SECOND, "bc", changes)
        assert seen(folder) == before
        assert len(list(folder.glob(".tmp-*"))) == 1, "what an earlier job left is removed"
    assert not job(folder, FIRST, "cd")
    after = [*before, ("c", FIRST), ("d", FIRST)]
    assert seen(folder) == after and not list(folder.glob(".tmp-*"))
    for changes in range(20):
        killed = job(folder, SECOND, "join", changes)
        assert seen(folder) == after
        if not killed:
            break
    assert changes > 3 and not list(folder.glob("*.json")) and not list(folder.glob(".tmp-*"))
    index, part = sorted(folder.iterdir())
    assert index.name == part_index.NAME
    for path in (index, part):
        assert path.stat().st_uid == SECOND and path.stat().st_gid == GROUP and path.stat().st_mode & 0o777 == 0o640
    assert not job(folder, FIRST, "d") and seen(folder) == after
