"""The target predict on a finished study."""

import pytest

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study


def test_predict_needs_no_key_and_no_answer(finished: Sandbox) -> None:
    """On a finished study, only the jobs of predictions are planned."""
    planned = finished.planned("predict")
    once = ("count_terms", "evaluate_predictions", "transfer_predictions", "report_predictions", "predict")
    assert planned == {**dict.fromkeys(once, 1), "predict_utility": 3}
