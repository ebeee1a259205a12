"""The registry of a study's files."""

import pickle

from ragrelay.execution.study import files
from ragrelay.execution.study.files import StudyFile

FILE = StudyFile("{dataset}/runs/{retriever}.run.gz", "build_run", "a run", "module:COLUMNS")


def test_a_path_is_filled_in_by_name_and_keeps_what_is_known_of_it() -> None:
    filled = FILE.at(dataset="small")
    assert filled == "<results>/small/runs/{retriever}.run.gz"
    assert (filled.rule, filled.columns) == ("build_run", "module:COLUMNS")
    assert FILE.each([{"dataset": "small", "retriever": name} for name in "ba"]) == [
        "<results>/small/runs/b.run.gz",
        "<results>/small/runs/a.run.gz",
    ]


def test_a_job_gets_a_plain_text() -> None:
    """Its script would import the registry otherwise, and its digest contain all that this imports."""
    assert type(pickle.loads(pickle.dumps(FILE))) is str  # noqa: S301
    assert repr(FILE) == "'<results>/{dataset}/runs/{retriever}.run.gz'"


def test_no_two_files_have_one_path() -> None:
    paths = [file.path for file in files.STAGES]
    assert len(set(paths)) == len(paths) > 40
