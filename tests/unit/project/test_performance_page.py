"""docs/reference/performance.md against the benchmarks' results, and each result against what a result must tell."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.shared import pairs, record
from tests.support.sandbox import ROOT
from tests.support.tools import load_tool

RESULTS = sorted((ROOT / "benchmarks/results").glob("*.json"))
RESULT = {
    "name": "some_speed",
    "setting": "ten of them",
    "figures": {
        "ours | theirs": {"value": 1.25, "unit": "x", "goal": ">= 1.3", "from": 1.1, "to": 1.4},
        "difference": {"value": 2e-6, "goal": "<= 1e-5"},
        "answers": {"value": 54000},
    },
    "machine": {"cpu": "A chip", "cores": 2, "memory_gib": 8},
    "versions": {"polars": "2.1"},
    "command": "python benchmarks/some_speed.py",
    "seconds": 12,
}


@pytest.fixture(scope="module")
def performance() -> ModuleType:
    return load_tool("performance")


def test_page_is_what_the_results_say(performance: ModuleType) -> None:
    text = performance.PAGE.read_text(encoding="utf-8")
    assert text == performance.page(text, performance.read_results()), "run `python tools/performance.py`"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_belongs_to_a_benchmark_and_names_no_place(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = json.loads(text)
    script = re.match(r"python benchmarks/(\w+)\.py", result["command"])
    assert script and (ROOT / "benchmarks" / f"{script[1]}.py").is_file()
    assert path.stem == script[1] or path.stem.startswith(f"{script[1]}_"), "its name, or that of another setting"
    assert result["versions"]
    assert not re.search(r"/(tmp|home|root|work|usr)/", text)


def test_table(performance: ModuleType) -> None:
    lines = performance.tables([RESULT]).splitlines()
    assert "| ours \\| theirs | 1.25× (1.1 to 1.4) | ≥ 1.3: **missed** |" in lines
    assert "| difference | 2.0e-06 | ≤ 1e-5: reached |" in lines
    assert "| answers | 54,000 |  |" in lines
    assert "`python benchmarks/some_speed.py`. A chip, 2 cores, 8 GiB. polars 2.1. 12 s in total." in lines


def test_plain_and_nested_numbers_are_figures_too(performance: ModuleType) -> None:
    result = {"name": "plain", "versions": {"polars": "2.1"}, "stages": {"read": {"peak_gib": 0.5}}, "k": [1, 2]}
    lines = performance.tables([result]).splitlines()
    assert "| stages, read, peak gib | 0.5 |  |" in lines
    assert "| k | 1, 2 |  |" in lines


def test_records_make_a_row_each(performance: ModuleType) -> None:
    result = {"name": "plain", "figures": [{"parts": 200, "seconds_held": 1.5}, {"parts": 5000, "seconds_held": 2.25}]}
    lines = performance.tables([result]).splitlines()
    assert "| parts | seconds held |" in lines
    assert "| 5,000 | 2.25 |" in lines


def test_a_page_without_its_mark_is_refused(performance: ModuleType) -> None:
    with pytest.raises(ValueError, match="found no line"):
        performance.page("# Performance\n", [])


def test_candidates_take_turns_and_ratios_are_within_a_round() -> None:
    order: list[str] = []

    def candidate(name: str, seconds: list[float]) -> Any:
        return lambda: order.append(name) or seconds.pop(0)

    seconds = pairs.alternating({"a": candidate("a", [1.0, 8.0]), "b": candidate("b", [2.0, 4.0])}, 2)
    assert order == ["a", "b", "b", "a"]
    assert pairs.ratios(seconds, "a", "b") == [0.5, 2.0]


def test_machine_names_no_host() -> None:
    assert set(record.machine()) == {"cpu", "instructions", "cores", "memory_gib"}
