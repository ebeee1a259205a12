"""Check the section ``prediction`` in the configuration."""

from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.annexes.prediction.model_scores import read_quality
from ragrelay.annexes.prediction.predictors.answers import ConsistencyF1
from ragrelay.annexes.prediction.predictors.scorer_consistency import START
from ragrelay.annexes.prediction.settings import PredictionSettings
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import file_of
from ragrelay.retrieval.retriever import RETRIEVER_KINDS
from ragrelay.scoring.scorer import SCORER_KINDS

RERANKERS = ("reranker", "cross_encoder")
"""Keys of ``prediction`` that name a retriever whose model scores passages."""


def rerankers(prediction: PredictionSettings) -> list[str]:
    """Return the distinct retrievers whose models score passages for predictors."""
    return list(dict.fromkeys(name for name in (prediction.reranker, prediction.cross_encoder) if name))


def quality_file(prediction: PredictionSettings, dataset: str) -> str | None:
    """Return the path of the file with quality values for ``dataset``'s passages, or None if there is none."""
    path = prediction.passage_quality
    return path and file_of(path, dataset)


def check_prediction(study: CheckedStudy) -> None:
    """Raise InputError if a file is invalid or a key names a retriever, judge or scorer that predictors can't use."""
    settings, grid = PredictionSettings.model_validate(study.config["prediction"]), study.grid
    retrievers = study.config["retrievers"]
    usable = [name for name, definition in retrievers.items() if definition["kind"] == "rerank"]
    for key in RERANKERS:
        if (name := getattr(settings, key)) is None:
            continue
        if name not in usable:
            expected = one_of(usable, what="a retriever of kind rerank")
            raise InputError(f"config key 'prediction.{key}'", repr(name), expected)
        RETRIEVER_KINDS.of(retrievers[name]).check(f"config key 'retrievers.{name}", study)
    sources = study.config["annotations"]
    judges = [n for n in study.config["grid"]["annotations"] if ANNOTATION_KINDS.of(sources[n]).judges(grid.generators)]
    if settings.judge is not None and settings.judge not in judges:
        expected = one_of(judges, what="a source in grid.annotations whose labels come from a generator")
        raise InputError("config key 'prediction.judge'", repr(settings.judge), expected)
    for name in settings.agreement_scorers:
        place = "config key 'prediction.agreement_scorers'"
        if name not in grid.scorers:
            raise InputError(place, repr(name), one_of(grid.scorers, name))
        kind = SCORER_KINDS.of(study.config["scorers"][name])
        if kind.judges() or kind.from_file:
            raise InputError(place, repr(name), "a scorer that compares two texts, without a judge")
        if START + name == ConsistencyF1.base:
            raise InputError(place, repr(name), f"another name, because {ConsistencyF1.base} is already a predictor")
    for dataset in grid.datasets:
        if path := quality_file(settings, dataset):
            read_quality(study.folder / path)
