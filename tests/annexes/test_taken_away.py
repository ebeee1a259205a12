"""Each annex can be taken away, with those that build on it, and all together: what is left works and is tested.

Every run takes all of them away, and reads the imports of what each would leave. The long tests take each away, and run
the tests of what is left.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from ragrelay.base.annex import annexes

from tests.support.imports import importers
from tests.support.rule_files import RULE_FILES
from tests.support.sandbox import CORES, ROOT, jobs_of
from tests.support.taken_away import copy_of_repository, left_over, rules_of, take_away, with_dependents, write_again

pytestmark = [pytest.mark.process, pytest.mark.gate]

NAMES = [annex.name for annex in annexes()]
EACH = [pytest.param([name], id=name, marks=pytest.mark.full) for name in NAMES]
ALL = pytest.param(NAMES, id="all")
PARTS = ("workflow/scripts", "tests", "tools", "benchmarks")
# Tests of what lists annexes, their keys, files and pages.
LISTINGS = ("tests/unit/config", "tests/unit/project", "tests/unit/report", "tests/unit/execution", "tests/dag")


def run_in(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a copy, which finds the copy's package alone."""
    environment = {**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-m", *command], cwd=root, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done


@pytest.mark.parametrize("name", NAMES)
def test_no_import_of_an_annex_would_be_left(name: str) -> None:
    assert left_over(with_dependents([name])) == []


@pytest.mark.parametrize("names", [*EACH, ALL])
def test_nothing_that_is_left_needs_what_is_gone(tmp_path: Path, names: list[str]) -> None:
    """No import of it is left, and the demo has the same jobs."""
    root = copy_of_repository(tmp_path / "copy")
    gone = take_away(root, with_dependents(names))
    assert {part: found for part in PARTS if (found := importers(root / part, gone))} == {}
    planned = jobs_of(run_in(root, "snakemake", "--cores", "1", "--dry-run"))
    assert planned["report"] == planned["generate_answers"] == 1
    assert planned == jobs_of(run_in(ROOT, "snakemake", "--cores", "1", "--dry-run", "--forceall"))


@pytest.mark.full
@pytest.mark.parametrize("names", [*EACH, ALL])
def test_what_is_left_passes_its_tests(tmp_path: Path, names: list[str]) -> None:
    """The tests are those of `make check`, after `make docs` has written what follows from the code.

    Without one annex, those of what lists annexes; without any, all.
    """
    root = copy_of_repository(tmp_path / "copy")
    take_away(root, with_dependents(names))
    write_again(root)
    needs = re.search("^NEEDS := (.*)$", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert needs is not None
    run_in(root, "pytest", "--collect-only", "-q", "tests")
    paths = ["tests"] if names == NAMES else LISTINGS
    run_in(root, "pytest", "-q", "-n", str(CORES), "--dist", "loadfile", "-m", f"not ({needs[1]})", *paths)


def test_an_annex_goes_with_those_that_build_on_it() -> None:
    for annex in annexes():
        gone = with_dependents([annex.name])
        assert annex.name in gone and not [
            one.name for one in annexes() if one.name not in gone and set(one.builds_on) & set(gone)
        ]


def test_a_rule_is_of_one_file() -> None:
    """Rules that no study of these tests loads are checked too."""
    names = Counter(name for path in RULE_FILES for name in rules_of(path))
    assert len(names) > 40 and [name for name, count in names.items() if count > 1] == []
    assert {path.parent.name for path in RULE_FILES} <= {"rules", *(each.name for each in annexes())}
