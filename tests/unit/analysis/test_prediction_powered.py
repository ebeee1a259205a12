"""What prediction-powered estimates of all annexes share: the weight's choice, by hand."""

import numpy as np
import pytest
from ragrelay.analysis.prediction_powered import Bounded, Powered, different, powered


def combined(covariance: float, variance: float, usable: bool = True) -> Powered:
    """Estimate 2 + 3 w with the variance 1 - 2 w covariance + w² variance, of normal quantile 1."""

    def tuned(weight: np.ndarray) -> Bounded:
        value, error = 2 + 3 * weight, np.sqrt(1 - 2 * weight * covariance + weight**2 * variance + 0.1 * (weight > 0))
        return value, value - error, value + error

    return powered(np.array(covariance), np.array(variance), tuned, tuned(np.array(0.0)), usable)


def test_the_weight_has_the_least_variance() -> None:
    found = combined(0.5, 0.8)
    assert found.weight == pytest.approx(0.625) and found.value == pytest.approx(2 + 3 * 0.625)
    assert (found.high - found.low) / 2 == pytest.approx(np.sqrt(1 - 0.5**2 / 0.8 + 0.1))
    assert (found.alone, found.alone_low, found.alone_high) == (2, 1, 3)


@pytest.mark.parametrize(
    ("covariance", "variance", "usable"),
    [(0.2, 0.8, True), (0.5, 0.8, False), (0.0, 0.0, True), (0.5, 0.0, True)],
    ids=["it would widen the interval", "it may not have one", "nothing varies", "the model's labels don't vary"],
)
def test_the_model_has_no_weight(covariance: float, variance: float, usable: bool) -> None:
    assert combined(covariance, variance, usable) == Powered(2, 1, 3, 0, 2, 1, 3)


def test_values_that_differ_from_the_most_common_one() -> None:
    assert different(np.array([[1, 0, 0, 1, 0], [2, 2, 2, 2, 2], [5, 4, 3, 2, 1]])).tolist() == [2, 0, 4]
    assert different(np.array([0.5, 0.25, 0.5])) == 1
