"""A study that version 0.1.0 finished goes on with this version: its jobs run from the cache, and no answer is made.

`version_0.1.0.tar.xz` has the small study (tests/support/sandbox.py) as f43b2818 made it, the last commit before the
changelog of the next version: collection, cache, records of Snakemake, and results without pages and benchmarks.
"""

import shutil
import tarfile
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.full]


@pytest.fixture
def upgraded(tmp_path: Path) -> Sandbox:
    """This version's code beside what version 0.1.0 made."""
    study = Sandbox(tmp_path / "study")
    shutil.rmtree(study.collection)
    with tarfile.open(Path(__file__).with_name("version_0.1.0.tar.xz")) as file:
        file.extractall(study.folder, filter="data")
    return Sandbox.at(study.folder)


def parts(study: Sandbox) -> set[Path]:
    """The parts of the stores of answers and scores."""
    return {path for name in ("answers", "scores") for path in (study.folder / "cache" / name).rglob("part-*.parquet")}


def test_no_answer_or_score_of_an_earlier_version_is_made_again(upgraded: Sandbox) -> None:
    before = parts(upgraded)
    assert len(before) > 1
    print("jobs that run:", upgraded.planned())
    upgraded.snakemake()
    assert upgraded.distinct_keys() > 100 and upgraded.answers_made() == 0
    assert parts(upgraded) == before
    assert upgraded.planned() == {}
