"""What jobs with an engine have used, those that were killed among them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import temporary_beside
from ragrelay.generation import engine_use
from ragrelay.generation.engine_use import add_tokens, counted, used_by_rule, used_in_all

from tests.support.sandbox import ROOT
from tests.support.waiting import wait_for

JOB = """
import sys, time
sys.path.insert(0, "workflow/scripts")
from ragrelay.generation import engine_use
engine_use.RENEWED_EVERY = 0.01
with engine_use.counted(sys.argv[1], gpus=4):
    engine_use.add_tokens(7)
    print("begun", flush=True)
    time.sleep(600)
"""


def test_attempts_of_a_job_add_up_and_a_log_that_is_removed_takes_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([0.0, 0.0, 1800.0, 5000.0, 5000.0, 8600.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    monkeypatch.setattr(engine_use, "_age", lambda: 0.0)
    log = tmp_path / "generate_answers/dl19/lm/bm25/shard0.log"
    for gpus in (4, 0):
        with counted(str(log), gpus):
            add_tokens(100)
            add_tokens(20)
    assert used_by_rule(tmp_path) == {"generate_answers": {"gpu_hours": 2.0, "tokens": 240.0}}
    assert used_in_all(tmp_path) == {"gpu_hours": 2.0, "tokens": 240.0}
    assert {path.suffix for path in log.parent.iterdir()} == {".json"}
    add_tokens(5)  # as where the package is used without a job
    assert used_in_all(tmp_path)["tokens"] == 240


def test_a_killed_job_counts_up_to_its_last_sign_of_life(tmp_path: Path) -> None:
    log = tmp_path / "judge_answers/dl19.log"
    job = subprocess.Popen([sys.executable, "-c", JOB, log], cwd=ROOT, text=True, stdout=subprocess.PIPE)
    try:
        assert job.stdout and job.stdout.readline() == "begun\n"
        wait_for("a sign of life", lambda: used_in_all(tmp_path)["tokens"] == 7, 60)
        job.send_signal(signal.SIGKILL)
    finally:
        job.kill()
        job.communicate()
    assert used_in_all(tmp_path)["tokens"] == 7 and used_in_all(tmp_path)["gpu_hours"] > 0


def test_a_count_that_can_not_be_written_ends_no_job(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with counted(str(tmp_path / "file/shard0.log"), 1):
        pass
    assert "so a budget won't count this job" in caplog.text


def test_a_count_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with counted(str(tmp_path / "judge_answers/dl19.log"), 1):
        [path] = tmp_path.rglob("*.json")
        temporary_beside(path).touch()
        assert used_in_all(tmp_path)["tokens"] == 0


def test_a_damaged_count_is_named(tmp_path: Path) -> None:
    (tmp_path / "shard0.1.used.json").write_text(json.dumps({"gpu_hours": 1}))
    with pytest.raises(InputError, match=r"shard0\.1\.used\.json: found a damaged usage record"):
        used_by_rule(tmp_path)


def test_before_the_first_job_nothing_is_used(tmp_path: Path) -> None:
    assert used_in_all(tmp_path / "none") == dict.fromkeys(engine_use.UNITS, 0)
