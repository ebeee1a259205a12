"""The history of a benchmark's record, and `make bench-compare`."""

import argparse
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.shared import record
from tests.support.tools import load_tool

CHIP = {"cpu": "A chip", "instructions": "AVX2", "cores": 2}
FIGURES = {
    "throughput": {"value": 0.9, "unit": "x", "goal": ">= 0.95"},
    "share": {"value": 0.12, "goal": "<= 0.2"},
    "time": {"value": 10.0, "unit": "s"},
    "rate": {"value": 100.0, "unit": "queries/s"},
    "calls": {"value": 30},
    "new": {"value": 1.0, "unit": "s"},
}


@pytest.fixture(scope="module")
def compare() -> ModuleType:
    return load_tool("bench_compare")


def of(before: dict[str, float], **about: Any) -> dict[str, Any]:
    """A record after one with the values ``before``."""
    past = {"date": "2026-01-02", "commit": "abc", "setting": "ten", "machine": CHIP, **about, "values": before}
    return {"name": "some", "setting": "ten", "machine": CHIP, "figures": FIGURES, "history": [past]}


def test_a_tenth_is_lost_in_the_direction_of_the_goal_or_the_unit(compare: ModuleType) -> None:
    before = {"throughput": 1.0, "share": 0.1, "time": 9.0, "rate": 111.0, "calls": 1, "gone": 3.0}
    assert list(compare.lost(of(before))) == [
        "some: throughput: 1.0 → 0.9 x, 11% worse than on 2026-01-02 abc",
        "some: share: 0.1 → 0.12, 20% worse than on 2026-01-02 abc",
        "some: time: 9.0 → 10.0 s, 11% worse than on 2026-01-02 abc",
        "some: rate: 111.0 → 100.0 queries/s, 11% worse than on 2026-01-02 abc",
    ]
    assert list(compare.lost(of({"throughput": 0.8, "share": 0.2, "time": 9.2, "rate": 105.0}))) == []


@pytest.mark.parametrize(
    "other", [{"machine": {**CHIP, "cpu": "another"}}, {"machine": {**CHIP, "instructions": "AMX"}}, {"setting": "two"}]
)
def test_records_of_another_processor_or_setting_are_passed_over(compare: ModuleType, other: dict[str, Any]) -> None:
    later = of({"time": 1.0}, **other)
    assert list(compare.lost(later)) == []
    later["history"].insert(0, of({"time": 5.0})["history"][0])
    assert list(compare.lost(later)) == ["some: time: 5.0 → 10.0 s, 100% worse than on 2026-01-02 abc"]


def test_a_record_keeps_those_before_it(
    compare: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/some.py", "--out", str(tmp_path / "some.json")])
    for seconds in (1.0, 1.05, 2.0):
        given = argparse.Namespace(out=tmp_path / "some.json", started=time.monotonic())
        record.write_record(given, "ten", {"time": record.figure(seconds, "s")}, ["polars"])
    written = json.loads((tmp_path / "some.json").read_text(encoding="utf-8"))
    assert [past["values"] for past in written["history"]] == [{"time": 1.0}, {"time": 1.05}]
    assert written["history"][0]["machine"] == written["machine"] and written["date"] and written["commit"]
    capsys.readouterr()
    compare.main(tmp_path)
    assert "some: time: 1.05 → 2.0 s, 90% worse" in capsys.readouterr().out
