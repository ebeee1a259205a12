"""Progress on a real terminal that two jobs share, and none where standard error is a file."""

import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from ragrelay.base.display import progress
from ragrelay.base.display.progress import Progress

from tests.support.sandbox import ROOT

JOB = """
import sys
sys.path.insert(0, {scripts!r})
from ragrelay.base.display import progress
progress.PAUSE = progress.PAUSE_SHARE = 0.0
with progress.prefixed({name!r}):
    answers = progress.Progress(2000, "answers")
for _ in range(2000):
    answers.add(1)
"""
LINE = r"(one|two): ([\d,]+) of 2,000 answers \(\d+%\)(, [\d.e+]+ per second, \d+:\d\d:\d\d left)?"


def on_terminal(*codes: str) -> str:
    """What a terminal shows of processes that run these codes at once."""
    ours, theirs = pty.openpty()
    jobs = [subprocess.Popen([sys.executable, "-c", code], stderr=theirs) for code in codes]
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # as Linux ends a terminal that nobody has open
            break
    os.close(ours)
    assert [job.wait() for job in jobs] == [0] * len(codes)
    return shown.decode()


def test_two_jobs_on_one_terminal() -> None:
    """Every line is whole and says whose it is; nothing is written over."""
    codes = [JOB.format(scripts=str(ROOT / "workflow/scripts"), name=name) for name in ("one", "two")]
    lines = on_terminal(*codes).removesuffix("\r\n").split("\r\n")
    found = [re.fullmatch(LINE, line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match][:3]
    for name in ("one", "two"):
        counts = [int(match[2].replace(",", "")) for match in found if match and match[1] == name]
        assert counts == list(range(1, 2001))


def test_silent_in_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    Progress(2, "answers").add(1)
    assert capsys.readouterr().err == ""


def test_lines_become_rarer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With an answer per second a line comes every 5 seconds, later whenever a tenth of the time has passed.

    The first takes a minute more, which is not reckoned with.
    """
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    answers = Progress(10_800, "answers")
    now[0] += 60
    for _ in range(10_800):
        now[0] += 1
        answers.add(1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "1 of 10,800 answers (0%)",
        "8 of 10,800 answers (0%), 1 per second, 2:59:52 left",
    ]
    assert 50 < len(lines) < 80
