"""The resources that jobs used, and the proposed profile."""

from pathlib import Path

import pytest
import yaml
from ragrelay.report.used import Benchmarks, jobs_used, show_used

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture
def benchmarks(tmp_path: Path) -> Path:
    """Write records of two generations (20 and 100 minutes) and of a job too short for its memory to be seen."""
    for name, row in {
        "generate_answers/dl19/lm/bm25/shard0.tsv": "1200\t0:20:00\t9000.5",
        "generate_answers/dl19/lm/rel/shard0.tsv": "6000\t1:40:00\t10000.0",
        "build_run/dl19/rel.tsv": "0.5\t0:00:00\tNA",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + row + "\t0\t0\t0\t0\t0\t0\t0\n", encoding="utf-8")
    return tmp_path


def test_time_and_memory_of_each_rule_with_what_to_ask_for(benchmarks: Path) -> None:
    used = jobs_used(Benchmarks(str(benchmarks)))
    assert used.select("rule", "jobs", "hours", "longest", "memory", "runtime", "mem_mb").rows() == [
        ("build_run", 1, 0.00014, 0.0, None, 10, None),
        ("generate_answers", 2, 2.0, 100.0, 10000, 150, 13000),
    ]


def test_beside_what_was_asked_and_planned(benchmarks: Path) -> None:
    """An engine has four GPUs. A rule has several rows in the plan."""
    plan = benchmarks / "plan.csv"
    plan.write_text(
        "dataset,job,gpu_hours_estimate\ndl19,generate_answers,1.5\ndl19,generate_answers,7\n"
        "dl19,judge_answers,\ntotal,,8.5\n"
    )
    asked = {"generate_answers": {"runtime": 480, "mem_mb": 32000}}
    given = Benchmarks(str(benchmarks), str(plan), asked, {"generate_answers/dl19/lm": 4})
    columns = ("gpu_hours", "planned", "asked_runtime", "asked_mem_mb")
    assert jobs_used(given).select(columns).rows() == [(None, None, None, None), (8.0, 8.5, 480, 32000)]
    lines = show_used(jobs_used(given), {}).splitlines()
    [head, line] = [line for line in lines if line.startswith("| generate") or "requested" in line]
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        "rule", "jobs", "hours", "GPU-hours", "planned GPU-hours", "longest (min)", "requested (min)",
        "memory (MB)", "requested (MB)",
    ]  # fmt: skip
    assert [cell.strip() for cell in line.split("|")[1:-1]][3:] == ["8.0", "8.5", "100.0", "480", "10,000", "32,000"]
    [short] = [line for line in lines if line.startswith("| build_run")]
    assert [cell.strip() for cell in short.split("|")[1:-1]] == ["build_run", "1", "0.00014", "", "", "0.0", "", "", ""]


def test_the_lines_are_those_of_a_profile(benchmarks: Path) -> None:
    shown = show_used(jobs_used(Benchmarks(str(benchmarks))), {})
    assert yaml.safe_load("set-resources:" + shown.partition("set-resources:")[2]) == {
        "set-resources": {
            "build_run": {"runtime": "attempt * 10"},
            "generate_answers": {"runtime": "attempt * 150", "mem_mb": "attempt * 13000"},
        }
    }


def test_before_the_first_job_there_is_nothing(tmp_path: Path) -> None:
    assert show_used(jobs_used(Benchmarks(str(tmp_path))), {}) == ""


def test_what_killed_attempts_used_is_said_although_they_leave_no_benchmark(benchmarks: Path, tmp_path: Path) -> None:
    used = {"generate_answers": {"gpu_hours": 11.0, "tokens": 5.0}, "judge_answers": {"gpu_hours": 0.0, "tokens": 5.0}}
    line = "GPU-hours of all attempts, including failed attempts: generate_answers 11.00"
    assert line in show_used(jobs_used(Benchmarks(str(benchmarks))), used).splitlines()
    assert show_used(jobs_used(Benchmarks(str(tmp_path / "none"))), used) == line
