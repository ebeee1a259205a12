"""One real, undisturbed run of a small study for all tests that need one; those that change it work on a copy.

And the order in which two workers (pytest-xdist's) take the tests.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox
from tests.support.sharing import made_once


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study, run to its report. Not to be changed."""
    return Sandbox.at(made_once(tmp_path_factory, "finished", lambda folder: Sandbox(folder).snakemake()))


@pytest.fixture
def copied(finished: Sandbox, tmp_path: Path) -> Callable[[], Sandbox]:
    """A function that copies the finished study."""
    return lambda: finished.copied_to(tmp_path / "study")


SHARED = ("cluster", "optional")
"""Fixtures that are so large that the tests which use one go to one worker."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each worker whole files, and what is long first, so that the workers end together.

    While one makes the study that is shared, the others do what is long and needs none.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    ranks: dict[str, int] = {}
    groups: dict[pytest.Item, str] = {}
    for item in items:
        fixtures, [folder, *_] = getattr(item, "fixturenames", ()), item.nodeid.removeprefix("tests/").split("/")
        groups[item] = next((name for name in SHARED if name in fixtures), item.nodeid.split("::")[0])
        rank = 3 if folder == "unit" else 2 if "finished" in fixtures else 1
        ranks[groups[item]] = min(rank, ranks.get(groups[item], 3))
        item.add_marker(pytest.mark.xdist_group(groups[item]))
    ranks["tests/e2e/test_study.py"] = 0
    ranks["cluster"] = 2
    items.sort(key=lambda item: ranks[groups[item]])
