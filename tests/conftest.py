"""One real, undisturbed run of a small study for all tests that need one; those that change it work on a copy."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study, run to its report. Not to be changed."""
    sandbox = Sandbox(tmp_path_factory.mktemp("e2e") / "study")
    sandbox.snakemake()
    return sandbox


@pytest.fixture
def copied(finished: Sandbox, tmp_path: Path) -> Callable[[], Sandbox]:
    """A function that copies the finished study, Snakemake's records and times included."""

    def copy() -> Sandbox:
        twin = Sandbox.__new__(Sandbox)
        twin.__dict__.update(finished.__dict__)
        twin.folder = tmp_path / "study"
        twin.collection = twin.folder / "small"
        twin.config = {
            key: value.copy() if isinstance(value, dict) else value for key, value in finished.config.items()
        }
        shutil.copytree(finished.folder, twin.folder, symlinks=True)
        return twin

    return copy
