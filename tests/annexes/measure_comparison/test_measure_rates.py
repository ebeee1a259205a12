"""The recorded error rates of compared measures."""

import json

from benchmarks.measure_errors import NULLS, SIZES
from tests.support.recorded_errors import goals_missed
from tools.measure_rates import PAGE, RECORD, page

VALUES = {title: one["value"] for title, one in json.loads(RECORD.read_text(encoding="utf-8"))["figures"].items()}


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run `python tools/measure_rates.py`"


def test_no_goal_is_missed() -> None:
    assert goals_missed("measure_errors") == []
    assert all(f"null: {name}, {n} queries, some pair" in VALUES for name in NULLS for n in SIZES)


def test_without_a_correction_equal_measures_differ() -> None:
    assert VALUES["null: eight measures, r = .4, 100 queries, each at 95%"] > 0.2
    assert VALUES["power: nDCG, r = .5, 300 queries, most closely"] > 0.9
