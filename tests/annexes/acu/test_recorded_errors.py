"""Recorded error rates of ACU's test hold their goals."""

from tests.support.recorded_errors import goals_missed


def test_every_goal_of_the_record_holds() -> None:
    assert goals_missed("acu_errors") == []
