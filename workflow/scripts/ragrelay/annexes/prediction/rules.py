"""Provide study data for the prediction rules: predictors' inputs, and the retriever that provides dense vectors."""

import functools
import itertools
from collections.abc import Iterable

from ragrelay.annexes.labels import files as label_files
from ragrelay.annexes.labels.rules import of_study as labels_of
from ragrelay.annexes.prediction import files
from ragrelay.annexes.prediction.checks import RERANKERS, quality_file
from ragrelay.annexes.prediction.predictor import predictor_modules
from ragrelay.annexes.prediction.settings import PredictionSettings
from ragrelay.annexes.prediction.subject import Settings
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files as study_files
from ragrelay.execution.study.reported import Reported
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import OfJob, Wildcards

TABLES = study_files.made_by("evaluate_predictions") | study_files.made_by("transfer_predictions")
"""The tables that evaluate predictions, keyed by name."""
PREDICTOR_MODULES = predictor_modules()
"""All modules with predictors; a change in any of them reruns every job that computes predictors."""


class Prediction:
    """Study data for the prediction rules (config key `prediction`).

    Methods that take only ``wildcards`` can be used as a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.asked_for: PredictionSettings = study.settings.prediction
        self.rankings = study.retrieval.rankings
        self.tables = {name: pattern.each(study.sections) for name, pattern in TABLES.items()}

    def each_dataset(self, patterns: Iterable[StudyFile]) -> OfJob:
        """Return an input function that lists a job's files for ``patterns`` in all datasets."""
        names = self.study.grid.datasets
        return lambda wildcards: [
            pattern.at(dataset=name, generator=wildcards.generator, scorer=wildcards.scorer)
            for name in names
            for pattern in patterns
        ]

    def vector_source(self, retriever: str) -> str | None:
        """Return ``retriever`` if it is dense, otherwise the grid's first dense retriever, or None if there is none."""
        names: list[str] = self.study.grid.retrievers
        dense = [name for name in names if self.study.retriever(name)["kind"] == "dense"]
        return retriever if retriever in dense else next(iter(dense), None)

    def vector_definition(self, wildcards: Wildcards) -> dict[str, object] | None:
        """Return the definition of the retriever that provides a job's dense vectors, or None if there is none."""
        source = self.vector_source(wildcards.retriever)
        return self.study.retriever(source) if source else None

    def vector_index(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the index receipt for a job's dense vectors, or an empty list if the job uses no dense vectors."""
        source = self.vector_source(wildcards.retriever)
        index = self.study.retrieval.kind(source).index_definition() if source else None
        return [self.study.retrieval.index_receipt(wildcards.dataset, index)] if index else []

    def fetched_for_vectors(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the download receipts of the retriever that provides a job's dense vectors."""
        source = self.vector_source(wildcards.retriever)
        return self.study.downloads.receipts("retrievers", source) if source else []

    def shown_contexts(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the files with imported answers' contexts, or an empty list if the job's answers aren't imported."""
        imported = wildcards.generator in self.study.generation.imported
        return study_files.imported_contexts.each(self.study.contexts if imported else [])

    def labels_of_judge(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the file with the judge's labels for a job, or an empty list if no predictor uses a judge."""
        judge = self.asked_for.judge
        if judge is None:
            return []
        _, names = labels_of(self.study).source_parts[judge].job(judge, "", wildcards.generator)
        return [label_files.labels_by_judge.at(**names)]

    def quality_file_of(self, wildcards: Wildcards) -> str | list[str]:
        """Return the file with quality values for the dataset's passages, or an empty list if none is configured."""
        return quality_file(self.asked_for, wildcards.dataset) or []

    def quality_contexts(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the files that list the passages in all retrievers' contexts and in imported answers' contexts."""
        own = [study_files.imported_passages.at(generator=name) for name in self.study.generation.imported]
        made = [study_files.contexts] if self.study.asked_generators() else []
        return [path for pattern in made + own for path in pattern.each(self.study.each_retriever)]

    @functools.cached_property
    def given(self) -> dict[str, object]:
        """The predictors' optional inputs, keyed by name; inputs that the study doesn't have are empty lists."""
        likelihoods = [files.context_likelihoods] if self.asked_for.context_perplexity else []
        chosen = {key: getattr(self.asked_for, key) for key in RERANKERS}
        return {
            "uses": [study_files.context_use] if self.study.settings.context_use else [],
            "likelihoods": likelihoods,
            **{key: [files.reranked.at(reranker=name)] if name else [] for key, name in chosen.items()},
            "shown": self.shown_contexts,
            "judge": self.labels_of_judge,
            "quality": self.quality_file_of,
            "agreement": [files.agreement.at(scorer=name) for name in self.asked_for.agreement_scorers],
        }

    @functools.cached_property
    def params(self) -> dict[str, object]:
        """Params for every job that computes predictors."""
        return {
            "patterns": {
                "answers": study_files.answers,
                "agreement": files.agreement,
                "shown": study_files.imported_contexts,
            },
            "contexts": [(context["ordering"], context["k"]) for context in self.study.contexts],
            "settings": {name: getattr(self.asked_for, name) for name in Settings.__dataclass_fields__},
            "cache_dir": self.study.cache_dir,
        }

    def results(self, reported: Reported) -> list[str]:
        """Return the paths of the prediction page, its figures and its tables."""
        figures = reported.paths(reported.outputs("prediction", "figure"), self.study.sections)
        return [files.predict_report, *figures, *itertools.chain(*self.tables.values())]
