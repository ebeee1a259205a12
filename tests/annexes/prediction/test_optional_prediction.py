"""Predictions of the study with everything optional."""

import pytest

from tests.annexes.prediction.predicted_study import check_predictions
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.study, pytest.mark.gate]


def test_predictors_of_the_answers_are_of_the_study(optional: Sandbox) -> None:
    check_predictions(optional)
