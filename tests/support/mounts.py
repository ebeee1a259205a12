"""File systems without room or without permission to write."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Mount at ``folder`` as the ``options`` of mount say; the test is skipped where only root may."""
    done = subprocess.run(["mount", *options, str(folder)], text=True, capture_output=True)
    if done.returncode:
        pytest.skip(f"can't mount here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
