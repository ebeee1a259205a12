"""Recorded error rates of predictors and of ACU's test hold their goals, and are made as they say."""

import json

import pytest

from benchmarks.ridge_errors import TESTS, figures
from tools.papers import ROOT

RECORDS = ("ridge_errors", "acu_errors")


@pytest.mark.parametrize("name", RECORDS)
def test_every_goal_of_the_record_holds(name: str) -> None:
    record = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))
    gated = {label: one for label, one in record["figures"].items() if "goal" in one}
    assert len(gated) >= 3 and record["seconds"] < 1800
    assert [label for label, one in gated.items() if one["value"] > float(one["goal"].removeprefix("<= "))] == []


def test_a_ridge_passes_no_test_more_often_than_the_one_before() -> None:
    made = figures(2)
    for r in (0.3, 0.6, 0.9):
        rates = [made[f"r = {r} with P₀: {name}"]["value"] for name in TESTS]
        assert rates == sorted(rates, reverse=True)
