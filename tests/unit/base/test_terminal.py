"""What is written to a terminal: text alone, whatever it is made of, through the one module that writes there."""

import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.base.display.terminal import escaped

from tests.support.hostile_text import CODES, only_text
from tests.support.sandbox import ROOT

JOB = """
import sys, logging
sys.path.insert(0, {scripts!r})
from ragrelay.base.errors import InputError
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.base.display import progress
codes = {codes!r}
sys.stderr.isatty = lambda: True
with job_log("log.txt", job=codes):
    progress.Lines().say(lambda: codes)
    logging.warning("one\\ttab %s", codes)
    raise {error}
"""


def test_every_character() -> None:
    """Lines, tabs and whatever can be printed stay; all else is an escape of one line."""
    for code in range(0x110000):
        character = chr(code)
        kept = character.isprintable() or character in "\n\t"
        assert escaped(character) == (character if kept else ascii(character)[1:-1])
    text = "| a\t| \u00e9\u6f22\U0001f600 |\n\n| \\x1b |\n"
    assert escaped(text) == text


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("ValueError(codes)", r"ValueError: \x1b[2J"),
        ('OSError(28, "No space left on device", codes)', r"ragrelay: error: \x1b[2J"),
        ("InputError(codes, codes, codes)", r"ragrelay: error: \x1b[2J"),
    ],
)
@pytest.mark.process
def test_a_job_writes_text(tmp_path: Path, error: str, told: str) -> None:
    """No code gets into its progress, its end (a traceback, too) or its log, which people read on a terminal."""
    code = JOB.format(scripts=str(ROOT / "workflow/scripts"), codes=CODES, error=error)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 1 and done.stdout == ""
    progress, *end = done.stderr.split("\n")
    assert progress.count(r"\u202eevil") == 2 and told in "\n".join(end)
    log = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert "one\ttab \\x1b" in log and only_text(done.stderr + log)
