"""Which jobs failed, by their logs and by the outputs that they would have made."""

from pathlib import Path

import pytest
from ragrelay.generation.job_logs import Logged, failed_jobs, records

START = "2025-03-01 12:00:00,000 INFO root: began\n"
ERROR = "2025-03-01 12:00:01,000 ERROR root: queries.tsv, line 3: found 1 column; expected 2\n"
CRASH = "2025-03-01 12:00:01,000 ERROR root: the job failed\nTraceback (most recent call last):\nKeyError: 'q'\n\n"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("logs/build_run/demo").mkdir(parents=True)
    return Path("logs")


RULES = [Logged(r"logs/build_run/(?P<dataset>demo)/(?P<retriever>\w+)\.log", ["out/{dataset,demo}/{retriever}.gz"])]


def test_the_last_line_of_an_error(logs: Path) -> None:
    (logs / "build_run/demo/bm25.log").write_text(START + ERROR)
    (logs / "build_run/demo/dense.log").write_text(CRASH)
    (logs / "build_run/demo/rel.log").write_text(ERROR + START)
    (logs / "build_run/demo/gone.x.log").write_text(ERROR)
    found = {str(path): record.last for path, record in failed_jobs(logs, RULES)}
    assert found == {
        "logs/build_run/demo/bm25.log": "queries.tsv, line 3: found 1 column; expected 2",
        "logs/build_run/demo/dense.log": "KeyError: 'q'",
    }, "neither one that began again nor one of no rule"


def test_a_job_that_succeeded_later_has_its_outputs(logs: Path) -> None:
    (logs / "build_run/demo/bm25.log").write_text(ERROR)
    Path("out/demo").mkdir(parents=True)
    assert len(list(failed_jobs(logs, RULES))) == 1
    Path("out/demo/bm25.gz").touch()
    assert not list(failed_jobs(logs, RULES))


def test_no_log_has_no_record(tmp_path: Path) -> None:
    assert records(tmp_path / "none.log") == []
    assert not list(failed_jobs(tmp_path / "none", RULES))
