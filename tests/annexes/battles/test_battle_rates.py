"""The recorded error rates of battles."""

import json

from benchmarks.battle_errors import FOUND_SIZES, ONE_FIRST, SIZES, WORLDS
from tests.support.recorded_errors import goals_missed
from tools.battle_rates import PAGE, RECORD, page

VALUES = {title: one["value"] for title, one in json.loads(RECORD.read_text(encoding="utf-8"))["figures"].items()}


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run `python tools/battle_rates.py`"


def test_no_goal_is_missed() -> None:
    assert goals_missed("battle_errors") == []
    assert all(f"false word: {n} queries, {world}" in VALUES for world in WORLDS for n in SIZES)


def test_one_order_and_one_judge_mislead() -> None:
    assert VALUES[f"false word, {ONE_FIRST}: 100 queries, order bias of 1.5 logits"] > 0.9
    assert VALUES["panel, by the mean: 300 queries, one judge favours b by 1.5 logits"] > 0.5
    assert min(VALUES[f"agreement, same_sign: {n} queries, not linked"] for n in FOUND_SIZES) > 0.6
    assert max(VALUES[f"strengths cover, each order a battle: {n} queries"] for n in FOUND_SIZES) < 0.9
