"""What several tests share is made once, also where the tests are spread over processes (pytest-xdist's workers)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name`` as ``make(folder)`` leaves it; the first process that asks for it makes it, others wait."""
    own = factory.getbasetemp()
    return made_in((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name, make)


def made_in(folder: Path, make: Callable[[Path], object]) -> Path:
    """``folder`` as ``make(folder)`` leaves it, which it has done once."""
    made = folder.with_suffix(".made")
    with FileLock(folder.with_suffix(".lock")):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            made.touch()
    return folder
