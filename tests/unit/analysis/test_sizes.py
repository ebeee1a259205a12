"""Sizes of studies: power of the words' own test, and of equivalence, by simulation."""

import numpy as np
import pytest
from ragrelay.analysis.mean_tests import Means
from ragrelay.analysis.systems import detectable_difference, queries_for_margin


@pytest.mark.parametrize("n", [12, 20, 36, 100])
def test_the_detectable_difference_is_found_four_times_in_five(n: int) -> None:
    drawn = np.random.default_rng(n).normal(0, 0.2, (n, 4000)) + detectable_difference(n, 0.2)
    found = (Means.cautious(drawn).p_value() < 0.05).mean()
    assert 0.75 < found < 0.83


def test_equivalence_is_found_four_times_in_five() -> None:
    assert queries_for_margin(0.02, 0.2) == 1051
    n = queries_for_margin(0.05, 0.2)
    low, high = Means.cautious(np.random.default_rng(0).normal(0, 0.2, (n, 4000))).interval(0.95)
    assert 0.77 < ((low > -0.05) & (high < 0.05)).mean() < 0.83
    assert queries_for_margin(1.0, 0.2) == 5
