"""The words of a mean difference: each is read off one interval, and none is said of too few queries."""

import numpy as np
import pytest
from ragrelay.analysis.equivalence import holm_levels, holm_words
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.multiplicity import holm
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


def test_intervals_leave_out_0_where_holms_method_rejects_it() -> None:
    random, said = np.random.default_rng(0), 0
    for _ in range(200):
        columns = list(random.normal(random.choice([0, 0.5], (5, 1)), 1, (5, 20)))
        p_values = np.array([Means.cautious(column[:, None]).p_value()[0] for column in columns])
        for row, p_holm in zip(holm_words(columns, 0.02), holm(p_values), strict=True):
            assert row["p_difference_holm"] == pytest.approx(p_holm)
            outside = row["verdict_low"] > 0 or row["verdict_high"] < 0
            assert outside == (p_holm < 0.05) == (row["verdict"] in SAY_BETTER + SAY_WORSE)
            said += outside
    assert said > 50


def test_levels_of_holms_steps_by_hand() -> None:
    assert holm_levels(np.array([0.03, 0.001, 0.2])) == pytest.approx([1 - 0.05 / 2, 1 - 0.05 / 3, 1 - 0.05 / 2])
    assert holm_levels(np.array([0.001, 0.002])) == pytest.approx([1 - 0.05 / 2, 1 - 0.05])


def test_skewed_differences_of_few_queries_are_called_no_more_often_than_promised() -> None:
    draws, random = 4000, np.random.default_rng(1)
    for n in (12, 36):
        skewed = Means.cautious(random.exponential(size=(n, draws)) - 1.0)
        low, high = skewed.interval()
        assert ((low > 0) | (high < 0)).mean() < 0.05 + 2 * np.sqrt(0.05 * 0.95 / draws)
