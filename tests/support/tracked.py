"""The project's own files, so that a reader's studies, notes and modules beside them break no test."""

import functools
import subprocess
from pathlib import Path

from tests.support.sandbox import ROOT


def tracked(*patterns: str) -> list[Path]:
    """The files of the patterns that git has; all of them where there is no repository."""
    found = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    known = _known()
    return [path for path in found if path.relative_to(ROOT).as_posix() in known] if known else found


@functools.cache
def _known() -> frozenset[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    return frozenset(listed.stdout.splitlines()) if listed.returncode == 0 else frozenset()
