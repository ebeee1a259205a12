"""Real, undisturbed runs of a small study for all tests that need one; those that change it work on a copy.

And the order in which files are run.
"""

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.graphs import Job, graph
from tests.support.optional_study import optional_study
from tests.support.processed_study import processed_study
from tests.support.real_study import real_study
from tests.support.sandbox import Sandbox
from tests.support.sharing import made_once

UNFREEZE = gc.unfreeze


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study, run to its report. Not to be changed.

    In processes that all start anew as far as the first scores, so that an engine and an encoder start as they do for
    users; the rules that follow start so on the tests' cluster.
    """

    def make(folder: Path) -> None:
        study = Sandbox(folder)
        study.forked = False
        study.snakemake("results/small/small/scores/minilm/demo-lm/zeroshot.parquet")
        study.forked = True
        study.snakemake()

    return Sandbox.at(made_once(tmp_path_factory, "finished", make))


@pytest.fixture(scope="session")
def optional(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study with every optional part, run to its pages. Not to be changed."""
    return Sandbox.at(made_once(tmp_path_factory, "optional", lambda folder: optional_study(finished, folder)))


@pytest.fixture(scope="session")
def processed(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The small study with processed retrievers, run to its page. Not to be changed."""
    return Sandbox.at(made_once(tmp_path_factory, "processed", lambda folder: processed_study(finished, folder)))


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A study by a real language model, run to its page. Not to be changed."""
    return Sandbox.at(made_once(tmp_path_factory, "real", real_study))


@pytest.fixture(scope="module")
def before(request: pytest.FixtureRequest, study: Sandbox) -> dict[str, Job]:
    """The jobs of the ``TARGETS`` of a module, of its ``study`` before any change."""
    return graph(study, tuple(request.module.TARGETS))


@pytest.fixture
def copied(finished: Sandbox, tmp_path: Path) -> Callable[[], Sandbox]:
    """A function that copies the finished study."""
    return lambda: finished.copied_to(tmp_path / "study")


def pytest_sessionstart() -> None:
    """What is imported from here on is no garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what the libraries keep out of all later collections; each engine has five of them, and would undo this.

    It saves 6% of the CPU time of a file with engines (test_penalties.py: 21.2 s, not 22.5 s; means of three).
    """
    gc.collect()
    gc.freeze()
    gc.freeze = gc.unfreeze = lambda: None
    gc.enable()


def pytest_sessionfinish() -> None:
    """Undo the freeze, so that the libraries clean up when Python ends."""
    UNFREEZE()


NEEDED = {
    "finished": "study", "optional": "study", "processed": "study", "real": "study", "submitted": "study",
    "cluster": "cluster", "browser": "browser",
}  # fmt: skip
"""Markers by the fixtures that bring what a test needs."""
FOLDERS = {"dag": "process", "e2e": "study", "faults": "study", "slurm": "cluster"}
"""Markers of all tests in a folder."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by what it needs: by its fixtures and its folder. Files without such a fixture name a marker."""
    marks = {NEEDED[name] for name in getattr(item, "fixturenames", ()) if name in NEEDED}
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    for mark in sorted(marks | {FOLDERS[folder]} if folder in FOLDERS else marks):
        item.add_marker(mark)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first, so that workers who take file after file end together (`make test`).

    The first makes the study that is shared; the next need none, so that the other worker does not wait for it. One
    file makes the study with every optional part; the others that need it come last, when it is there.
    """
    needy = {item.path for item in items if "finished" in getattr(item, "fixturenames", ())}
    with_options = dict.fromkeys(item.path for item in items if "optional" in getattr(item, "fixturenames", ()))
    last = {*list(with_options)[1:]}

    def rank(item: pytest.Item) -> int:
        folder = item.path.parent
        if item.path.name == "test_study.py":
            return 0
        if item.path in last:
            return 6
        if item.path in needy:
            return 2 if folder.name == "slurm" else 3
        if folder.name == "report":  # browsers
            return 4
        return 5 if {"unit", "annexes"} & set(folder.parts) and folder.name != "project" else 1

    items.sort(key=rank)
