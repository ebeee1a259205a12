"""The target predict on a finished study."""

import pytest

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study


def test_predict_needs_no_key_and_no_answer(finished: Sandbox) -> None:
    """On a finished study, only jobs of predictions are planned."""
    planned = finished.planned("predict").keys()
    assert planned >= {"predict_utility", "report_predictions"}
    assert not planned & finished.planned("--forceall").keys()
