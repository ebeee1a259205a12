"""The annex that predicts utility and answer quality without judgements."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from ragrelay.annexes.prediction.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.prediction.settings import PredictionKeys, PredictionSettings
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Prediction(Annex):
    """Predict a finished study's utility and answer quality without judgements (target `predict`)."""

    order = 4
    builds_on = ("labels",)
    extends: ClassVar = {
        "Predictor": "ragrelay.annexes.prediction.predictor",
        **dict.fromkeys(("Query", "Subject", "UndefinedError"), "ragrelay.annexes.prediction.subject"),
    }
    keys = PredictionKeys
    without_effect = ("prediction",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    pages = ("report/predict.html",)

    def check(self, study: CheckedStudy) -> None:
        from ragrelay.annexes.prediction.checks import check_prediction

        check_prediction(study)

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        from ragrelay.annexes.prediction.checks import rerankers

        return {"retrievers": rerankers(PredictionSettings.model_validate(study.config["prediction"]))}

    def scored_texts(self, study: CheckedStudy) -> Mapping[str, bool]:
        return {"prediction.context_perplexity": study.config["prediction"]["context_perplexity"]}
