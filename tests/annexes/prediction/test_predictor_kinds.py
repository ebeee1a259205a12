"""A predictor is one class: dropped into the folder in a file, it is computed, and in the reference of predictors."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ragrelay.annexes.prediction import predictor
from ragrelay.annexes.prediction.predictor import BEFORE_ANSWER, predictors, valued
from ragrelay.annexes.prediction.subject import Subject

from tests.annexes.prediction.test_predictor_values import query
from tests.support.tools import load_tool

LAST_SCORE = '''
from ragrelay.annexes.prediction.predictor import BEFORE_ANSWER, Predictor


class LastScore(Predictor):
    """The score of the context's last passage.

    Made for this test.
    """

    name = "last_score"
    stage = BEFORE_ANSWER
    of_k = True

    def value(self, subject):
        return float(subject.query.scores[subject.k - 1])
'''


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = importlib.import_module(predictor.PACKAGE)
    (tmp_path / "last_score.py").write_text(LAST_SCORE, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    predictor.classes.cache_clear()
    yield
    sys.modules.pop(f"{predictor.PACKAGE}.last_score", None)
    predictor.classes.cache_clear()


@pytest.mark.usefixtures("dropped")
def test_it_is_computed_and_listed() -> None:
    [added] = [one for one in predictors({}) if one.name == "last_score"]
    assert added.stage == BEFORE_ANSWER
    assert valued(added, Subject(query(), 2, [])) == (7.0, None)
    assert valued(added, Subject(query(), 3, [])) == (4.0, None)
    rows = [line for line in load_tool("predictors").table().splitlines() if "last_score" in line]
    assert len(rows) == 1 and "The score of the context's last passage" in rows[0]
