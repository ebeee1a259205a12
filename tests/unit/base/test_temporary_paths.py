"""What killed jobs leave behind is removed, and nothing of a living one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.base.io import atomic_files
from ragrelay.base.io.atomic_files import atomic, atomic_folder, ended, temporary_beside

pytestmark = pytest.mark.process

WRITE = """
import os, signal, sys
sys.path.insert(0, "workflow/scripts")
from pathlib import Path
from ragrelay.base.io.atomic_files import atomic, atomic_folder
with atomic(Path(sys.argv[1]) / "file") as file, atomic_folder(Path(sys.argv[1]) / "folder") as folder:
    file.write_text("half")
    folder.mkdir()
    (folder / "inside").write_text("half")
    print("written", flush=True)
    sys.stdin.read()
"""


def writer(folder: Path) -> subprocess.Popen[str]:
    """A process that is at work on a file and a folder, until it is killed."""
    started = subprocess.Popen(
        [sys.executable, "-c", WRITE, folder], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert started.stdout and started.stdout.readline() == "written\n"
    return started


@pytest.fixture
def unswept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be as one that has written nothing yet."""
    monkeypatch.setattr(atomic_files, "_swept", set())


def test_of_a_killed_process_nothing_stays(tmp_path: Path, unswept: None) -> None:
    killed, living = writer(tmp_path), writer(tmp_path)
    own = {
        str(process.pid): [p for p in tmp_path.iterdir() if f"-{process.pid}-" in p.name]
        for process in (killed, living)
    }
    assert [len(paths) for paths in own.values()] == [2, 2]
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    with atomic(tmp_path / "other") as temporary:
        temporary.touch()
    try:
        assert sorted(tmp_path.iterdir()) == sorted([*own[str(living.pid)], tmp_path / "other"])
        assert (next(p for p in own[str(living.pid)] if p.is_dir()) / "inside").read_text() == "half"
    finally:
        living.communicate()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "other"]


def test_a_zombie_has_ended(tmp_path: Path) -> None:
    """Its parent, here this process, hasn't asked for its status."""
    process = writer(tmp_path)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert all(ended(path) for path in tmp_path.glob(".tmp-*"))
    process.communicate()


def test_a_process_number_that_is_used_again(tmp_path: Path) -> None:
    """A path with this process's number and another start is of a process that has ended."""
    own = temporary_beside(tmp_path / "x")
    machine, process, start = own.name.removeprefix(".tmp-").split("-")[:3]
    assert process == str(os.getpid()) and not ended(own)
    assert ended(tmp_path / f".tmp-{machine}-{process}-{int(start) - 1}-0123abcd-x")


@pytest.mark.parametrize("name", [".tmp-0123456789ab-x", ".tmp-00000000-999999999-1-0123abcd-x", ".tmp-x"])
def test_of_others_nothing_is_known(tmp_path: Path, unswept: None, name: str) -> None:
    """Names of another machine, or from before names said whose they are, stay, whatever their process number."""
    (tmp_path / name).touch()
    assert not ended(tmp_path / name)
    with atomic(tmp_path / "other") as temporary:
        temporary.touch()
    assert (tmp_path / name).exists()


def test_another_users_process_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system tells no more of it than that it is there."""

    def refused(*_: object) -> None:
        raise PermissionError

    machine = temporary_beside(tmp_path / "x").name.split("-")[1]
    monkeypatch.setattr(atomic_files.os, "kill", refused)
    monkeypatch.setattr(atomic_files, "process_state", lambda _: ("", 0))
    assert not ended(tmp_path / f".tmp-{machine}-999999999-1-0123abcd-x")


def test_a_folder_comes_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), atomic_folder(tmp_path / "a/made") as temporary:
        temporary.mkdir()
        raise KeyError
    assert list((tmp_path / "a").iterdir()) == []
    for text in ("first", "second"):
        with atomic_folder(tmp_path / "a/made") as temporary:
            temporary.mkdir()
            (temporary / "file").write_text(text)
    assert (tmp_path / "a/made/file").read_text() == "first"
