"""The target predict on a finished study."""

from tests.support.sandbox import Sandbox


def test_predict_needs_no_key_and_no_answer(finished: Sandbox) -> None:
    """Of a finished study, and changes nothing that it has."""
    planned = finished.planned("predict")
    names = ("count_terms", "predict_utility", "evaluate_predictions", "report_predictions", "predict")
    assert planned == dict(zip(names, (1, 3, 1, 1, 1), strict=True))
