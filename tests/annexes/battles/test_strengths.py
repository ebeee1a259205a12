"""Bradley-Terry strengths: a hand-worked case, separation, clusters."""

import math

import numpy as np
import pytest
from ragrelay.annexes.battles.strengths import strengths

PAIRS = [(1, 0), (2, 0)]


def test_in_a_star_a_strength_is_the_log_odds_of_the_win_rate() -> None:
    scores = np.array([[1.0, 0.5], [1.0, 0.0], [1.0, 0.5], [0.0, 0.0]] * 4)
    reference, one, other = strengths(scores, PAIRS, 3)
    assert reference == {"strength": 0.0}
    assert one["strength"] == pytest.approx(math.log(0.75 / 0.25))
    assert other["strength"] == pytest.approx(math.log(0.25 / 0.75))
    assert one["low"] < one["strength"] < one["high"]


def test_all_pairs_agree_with_the_model_that_made_them() -> None:
    chances = {pair: 1 / (1 + math.exp(-(pair[0] - pair[1]) * 0.5)) for pair in ((1, 0), (2, 0), (2, 1))}
    scores = np.tile([*chances.values()], (20, 1))
    found = strengths(scores, [*chances], 3)
    assert [row["strength"] for row in found] == pytest.approx([0.0, 0.5, 1.0])


def test_there_is_no_finite_strength_where_a_system_wins_everything() -> None:
    scores = np.array([[1.0, 0.5], [1.0, 0.0]] * 8)
    assert {row["reason"] for row in strengths(scores, PAIRS, 3)} == {
        "no finite strength: some systems win (or lose) all comparisons with the others"
    }
    few = strengths(scores[:11], PAIRS, 3)
    assert few[0]["reason"] == "11 queries or clusters, but 12 are needed"


def test_queries_of_a_cluster_are_one_unit() -> None:
    """Each query four times is no more evidence than each once."""
    random = np.random.default_rng(3)
    scores = random.choice([0.0, 0.5, 1.0], size=(20, 2))
    once, clustered = (
        strengths(scores, PAIRS, 3),
        strengths(scores.repeat(4, axis=0), PAIRS, 3, np.arange(20).repeat(4)),
    )
    assert clustered[1]["high"] == pytest.approx(once[1]["high"])
    assert strengths(scores.repeat(4, axis=0), PAIRS, 3)[1]["high"] < once[1]["high"]
