"""How a job ends: in one line that says what to do, with its `finally` clauses run, and never after its parent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import psutil
import pytest

from tests.support.sandbox import ROOT
from tests.support.waiting import wait_for

pytestmark = pytest.mark.process

JOB = """
import pathlib, sys, time
sys.path.insert(0, {scripts!r})
from ragrelay.execution.jobs.scripts import job_log
with job_log({log!r}):
    try:
        pathlib.Path({started!r}).touch()
        {body}
    finally:
        print("said goodbye", flush=True)
"""


def start(folder: Path, body: str, **more: str) -> subprocess.Popen[str]:
    names = {
        "log": str(folder / "log.txt"),
        "started": str(folder / "started"),
        "scripts": str(ROOT / "workflow/scripts"),
    }
    code = JOB.format(body=body, **names)
    environment = {**os.environ, **more}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.mark.parametrize(("number", "said"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "an interrupt")])
def test_stopped_by_a_signal(tmp_path: Path, number: signal.Signals, said: str) -> None:
    """Snakemake tells of Ctrl-C, which reaches the whole process group (dag/test_snakemake_internals.py)."""
    job = start(tmp_path, "time.sleep(600)")
    wait_for("the job", (tmp_path / "started").exists, 120)
    job.send_signal(number)
    output, _ = job.communicate(timeout=240)
    expected = f"ragrelay: error: stopped by {said}: finished work is kept; run the same command again"
    assert job.returncode == 1
    assert output.startswith("said goodbye")
    assert (expected in output) == (number is signal.SIGTERM)
    assert "Traceback" not in output
    assert f"stopped by {said}" in (tmp_path / "log.txt").read_text()


def test_no_room(tmp_path: Path) -> None:
    """/dev/full is a disk without room."""
    output, _ = start(tmp_path, 'open("/dev/full", "w", buffering=1).write("\\n")').communicate(timeout=240)
    assert "ragrelay: error: writing: No space left on device; free some space there; finished work is kept" in output
    assert "Traceback" not in output


def read(inputs: list[Path], body: str, log: Path) -> tuple[str, str]:
    """What a job says that reads ``inputs``: on the terminal, and in its log."""
    code = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "workflow/scripts")!r})
import polars as pl
from ragrelay.execution.jobs.scripts import job_log
inputs = {[str(path) for path in inputs]!r}
with job_log({str(log)!r}, inputs):
    {body}
"""
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 1
    return done.stderr, log.read_text()


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("t.parquet", "pl.read_parquet(inputs)", "Parquet "),
        ("t.parquet", "pl.scan_parquet(inputs).select(pl.len()).collect()", "Parquet "),
        ("t.parquet", "raise pl.exceptions.PanicException('at a flipped bit')", "Parquet "),
        ("t.json", "[json.loads(open(path).read()) for path in inputs if path.endswith('json')]", "Expecting"),
        ("t.csv", "print(pl.read_csv(inputs[1:]))", "it ends within a line"),
    ],
)
def test_a_truncated_result_is_named(tmp_path: Path, name: str, body: str, reason: str) -> None:
    """It is found among sound ones, with the command that makes it again; polars reads some rows of a cut CSV file."""
    frame = pl.DataFrame({"qid": [f"q{number}" for number in range(99)], "value": range(99)})
    writers = {"t.parquet": frame.write_parquet, "t.json": frame.write_json, "t.csv": frame.write_csv}
    inputs = [tmp_path / f"sound{(tmp_path / name).suffix}", tmp_path / name]
    for path in inputs:
        writers[name](path)
    inputs[1].write_bytes(inputs[1].read_bytes()[:-3])
    said, log = read(inputs, body, tmp_path / "log")
    assert said.startswith(f"ragrelay: error: {inputs[1]}: found a damaged file ({reason}")
    assert said.endswith(f"expected a complete file; run rm {inputs[1]}, then the same command again\n")
    assert said.count("\n") == 1
    assert ("Traceback" in log) == (name != "t.csv")


def test_an_empty_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").touch()
    said, _ = read([tmp_path / "t.csv"], "pass", tmp_path / "log")
    assert said.startswith(f"ragrelay: error: {tmp_path / 't.csv'}: found a damaged file (it is empty)")


def test_with_sound_inputs_other_errors_stay(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("{}\n")
    said, _ = read([tmp_path / "t.json"], "1 / 0", tmp_path / "log")
    assert "ZeroDivisionError" in said and "damaged" not in said


def test_out_of_memory_is_one_line(tmp_path: Path) -> None:
    said, log = read([], "bytearray(1 << 60)", tmp_path / "log")
    assert said.startswith("ragrelay: error: the job: out of memory; allow it more (on a cluster mem_mb of its rule), ")
    assert said.count("\n") == 1 and "MemoryError" in log


@pytest.mark.parametrize("after", ["pass", "1 / 0", "pl.read_csv(inputs, schema={'no': pl.Int64})"])
@pytest.mark.parametrize(
    "change",
    [
        "open(inputs[0], 'a').write('q3\\n')",
        "shutil.copy2(inputs[1], inputs[0])",
        "os.replace(inputs[1], inputs[0])",
        "os.remove(inputs[0])",
    ],
    ids=["edited", "older", "moved", "gone"],
)
def test_a_file_that_changes_while_a_job_reads_it_is_named(tmp_path: Path, change: str, after: str) -> None:
    """It is named whether the job noticed something or not."""
    inputs = [tmp_path / "t.csv", tmp_path / "other.csv"]
    for path, query, time in zip(inputs, ("q1", "q2"), (2, 1), strict=True):
        path.write_text(f"qid\n{query}\n")
        os.utime(path, (time, time))
    said, log = read(inputs, f"import os, shutil; {change}; {after}", tmp_path / "log")
    found = f"{inputs[0]}: found a file that changed while the job read it; expected a file that stays unchanged"
    assert said.startswith(f"ragrelay: error: {found}") and said.endswith("; run the same command again\n")
    assert said.count("\n") == 1 and found in log


def test_other_errors_are_told_whole(tmp_path: Path) -> None:
    output, _ = start(tmp_path, "1 / 0").communicate(timeout=240)
    assert "ZeroDivisionError" in output
    assert "ZeroDivisionError" in (tmp_path / "log.txt").read_text()


@pytest.mark.parametrize(("given", "found"), [({}, "1"), ({"HF_HUB_OFFLINE": "0"}, "0")])
def test_hub_access_is_off_unless_the_user_says_otherwise(tmp_path: Path, given: dict[str, str], found: str) -> None:
    body = "import os, huggingface_hub.constants as hub; print(hub.HF_HUB_OFFLINE, os.environ['HF_HUB_OFFLINE'])"
    environment = {key: value for key, value in {**os.environ, "HF_HUB_OFFLINE": "", **given}.items() if value}
    names = {
        "log": str(tmp_path / "log.txt"),
        "started": str(tmp_path / "s"),
        "scripts": str(ROOT / "workflow/scripts"),
    }
    code = JOB.format(body=body, **names)
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True)
    assert done.stdout.splitlines()[0] == f"{found == '1'} {found}"


def test_a_job_ends_with_its_parent(tmp_path: Path) -> None:
    """It ends even where the parent is killed: an engine would hold its GPU for nobody."""
    (tmp_path / "job.py").write_text(
        JOB.format(
            body="time.sleep(600)", log=str(tmp_path / "log.txt"), started=str(tmp_path / "started"),
            scripts=str(ROOT / "workflow/scripts"),
        )
    )  # fmt: skip
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys; subprocess.run([sys.executable, sys.argv[1]])",
            tmp_path / "job.py",
        ]
    )
    wait_for("the job", (tmp_path / "started").exists, 120)
    [job] = psutil.Process(parent.pid).children()
    parent.kill()
    parent.wait()
    wait_for("the job's end", lambda: not job.is_running() or job.status() == psutil.STATUS_ZOMBIE, 60)
    assert "stopped by SIGTERM" in (tmp_path / "log.txt").read_text()
