"""How often a lead of a source of labels is found where there is none."""

import numpy as np

from benchmarks.shared.known_truth import lead_data
from benchmarks.shared.real_columns import Real
from benchmarks.verdict_errors import lead_errors


def test_a_lead_of_two_sources_that_follow_alike_is_found_no_more_often_than_promised() -> None:
    """In 300 draws, a rate of 5% has a standard error of 1.3%; docs/error-rates.md has 4,000 draws."""
    draws = lead_data(Real([]))["skewed"](np.random.default_rng(2), 300, 43)
    assert lead_errors(*draws)["lead"].mean() <= 0.05 + 3 * 0.013
