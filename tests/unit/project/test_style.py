"""Style and types of all the project's code; the workflow's own lint is in tests/dag."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sandbox import ROOT

pytestmark = [pytest.mark.process, pytest.mark.gate]

CODE = ["benchmarks", "docs", "requirements", "resources", "setup.py", "tests", "tools", "workflow"]
"""As in the Makefile: not the folder itself, which may have modules of the reader's own."""
TOOLS = {
    "ruff check": ["ruff", "check", *CODE],
    "ruff format": ["ruff", "format", "--check", *CODE],
    "snakefmt": ["snakefmt", "--check", "Snakefile", "workflow/Snakefile", "rules", "workflow/scripts"],
    "mypy": ["mypy"],
}


@pytest.mark.parametrize("command", TOOLS.values(), ids=TOOLS.keys())
def test_clean(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, f"{' '.join(command)}:\n{(done.stdout + done.stderr)[-4000:]}"
