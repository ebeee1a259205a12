"""The record of false words on tokens of thought: those without a remark are rare, and others are not."""

import json

from benchmarks.thought_errors import NULLS, SIZES
from tools.thought_rates import PAGE, RECORD, page

FIGURES = json.loads(RECORD.read_text(encoding="utf-8"))["figures"]


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run `python tools/thought_rates.py`"


def test_no_gate_of_the_record_is_broken() -> None:
    gated = {name: one for name, one in FIGURES.items() if one.get("goal")}
    assert len(gated) == len(SIZES) * (len(NULLS) + 1)
    for name, one in gated.items():
        assert one["value"] <= float(one["goal"].removeprefix("<= ")) + 0.002, name


def test_the_remark_is_needed_where_thoughts_run_into_the_budget() -> None:
    words = {name: one["value"] for name, one in FIGURES.items() if name.startswith("false word: ")}
    assert max(rate for name, rate in words.items() if "run into the budget" in name) > 0.1
    without = [one["value"] for name, one in FIGURES.items() if name.startswith("false word without a remark")]
    assert max(without) < 0.03
