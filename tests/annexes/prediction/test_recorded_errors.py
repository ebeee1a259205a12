"""Recorded error rates of predictors hold their goals, and are made as they say."""

from benchmarks.ridge_errors import TESTS, figures
from tests.support.recorded_errors import goals_missed


def test_every_goal_of_the_record_holds() -> None:
    assert goals_missed("ridge_errors") == []


def test_a_ridge_passes_no_test_more_often_than_the_one_before() -> None:
    made = figures(2)
    for r in (0.3, 0.6, 0.9):
        rates = [made[f"r = {r} with P₀: {name}"]["value"] for name in TESTS]
        assert rates == sorted(rates, reverse=True)
