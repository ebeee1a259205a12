"""The words of a mean difference: each is read off one interval, and none is said of too few queries."""

import numpy as np
import pytest
from ragrelay.analysis.equivalence import words_of
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.verdicts import SAY_BETTER, SAY_WORSE, TOO_FEW, of_difference, of_interval


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.03, 0.09, "better by more than the margin"),
        (0.01, 0.09, "better"),
        (0.005, 0.015, "better, by less than the margin"),
        (-0.01, 0.015, "equivalent"),
        (-0.01, 0.05, "not worse"),
        (-0.05, 0.015, "not better"),
        (-0.05, 0.05, "undecided"),
        (-0.015, -0.005, "worse, by less than the margin"),
        (-0.09, -0.01, "worse"),
        (-0.09, -0.03, "worse by more than the margin"),
        (None, None, "undecided"),
    ],
)
def test_the_word_is_read_off_the_interval(low: float | None, high: float | None, word: str) -> None:
    assert of_interval(low, high, 0.02) == word


def test_without_a_margin_there_are_three_words() -> None:
    ends = [(0.03, 0.09), (-0.09, -0.03), (-0.01, 0.01)]
    assert [of_interval(*one) for one in ends] == ["better", "worse", "undecided"]


@pytest.mark.parametrize(("n", "zeros", "said"), [(11, 0, False), (12, 4, True), (12, 5, False), (36, 29, False)])
def test_words_need_twelve_queries_of_which_eight_differ(n: int, zeros: int, said: bool) -> None:
    differences = np.concatenate([np.zeros(zeros), np.full(n - zeros, 0.1)])
    assert of_difference(differences, 0.03, 0.09, 0.02) == ("better by more than the margin" if said else TOO_FEW)


def test_intervals_of_several_retrievers_leave_out_0_where_the_corrected_test_rejects_it() -> None:
    random, said = np.random.default_rng(0), 0
    for _ in range(200):
        columns = list(random.normal(random.choice([0, 0.5], (5, 1)), 1, (5, 20)))
        for row, column in zip(words_of(columns, 0.02), columns, strict=True):
            corrected = min(1.0, 5 * Means.cautious(column[:, None]).p_value()[0])
            assert row["p_difference_bonferroni"] == pytest.approx(corrected)
            outside = row["verdict_low"] > 0 or row["verdict_high"] < 0
            assert outside == (corrected < 0.05) == (row["verdict"] in SAY_BETTER + SAY_WORSE)
            said += outside
    assert said > 50


@pytest.mark.simulation
def test_words_on_the_margin_of_nine_retrievers_are_seldom_wrong() -> None:
    """The true differences are at the margin, far from 0: the levels of Holm's steps miss in 11%."""
    random, missed, draws = np.random.default_rng(0), 0, 400
    for _ in range(draws):
        differences = random.normal(-0.02, 0.02, (40, 9))
        missed += any(not row["verdict_low"] <= -0.02 <= row["verdict_high"] for row in words_of(differences.T, 0.02))
    assert missed / draws < 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)


def test_skewed_differences_of_few_queries_are_called_no_more_often_than_promised() -> None:
    draws, random = 4000, np.random.default_rng(1)
    for n in (12, 36):
        skewed = Means.cautious(random.exponential(size=(n, draws)) - 1.0)
        low, high = skewed.interval()
        assert ((low > 0) | (high < 0)).mean() < 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)
