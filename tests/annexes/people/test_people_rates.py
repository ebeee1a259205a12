"""The record of intervals and tests on people's scores: the tables in docs have it, and no goal is missed by much."""

import json

from tools.people_rates import PAGES, RECORD, page

FIGURES = json.loads(RECORD.read_text(encoding="utf-8"))["figures"]


def values(*parts: str) -> list[float]:
    return [one["value"] for label, one in FIGURES.items() if all(part in label for part in parts)]


def test_the_pages_are_up_to_date() -> None:
    for path, mark in PAGES.items():
        text = path.read_text(encoding="utf-8")
        assert text == page(text, mark), "run `python tools/people_rates.py`"


def test_goals_are_missed_by_few_and_little() -> None:
    """A rate of .95 in 1,000 studies has a standard error of .007."""
    gated = [one for one in FIGURES.values() if one.get("goal")]
    missed = []
    for one in gated:
        sign, bound = one["goal"].split()
        by = float(bound) - one["value"] if sign == ">=" else one["value"] - float(bound)
        missed += [by] if by > 0 else []
    assert len(gated) > 350 and len(missed) < 0.03 * len(gated) and max(missed) < 0.02


def test_what_the_page_leaves_out_fails() -> None:
    assert max(values("coverage of r:", "skewed", "true 0.68")) < 0.8
    assert min(values("coverage of tau:", "one by one")) < 0.8
    assert max(values("false, 0.7 and 0.7, tau of", "one by one")) > 0.1
    assert max(values("where the scorer is unsure: with the scorer")) > 0.3
    assert min(values("without a gate of its own", "6 and 34 scores")) < 0.75
    assert max(values("without a look at assessors", "each cell by one")) < 0.55


def test_different_people_are_found() -> None:
    assert min(values("share of studies without an interval", "each cell by one")) == 1.0
    assert max(values("false verdicts on a gain of two people")) <= 0.065
    assert max(values("share of studies without an interval", "two people", "at random")) < 0.25
