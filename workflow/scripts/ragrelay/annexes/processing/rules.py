"""Provide data for the rule that describes the effects of processors."""

import functools

from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key
from ragrelay.retrieval.retriever import RETRIEVER_KINDS


class Processing:
    """A study's data for the rule that describes the effects of processors."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    @functools.cached_property
    def bases(self) -> dict[str, str]:
        """The retriever whose passages are processed, keyed by the processed retriever's name."""
        kinds = {name: RETRIEVER_KINDS.of(self.study.retriever(name)) for name in self.study.grid.retrievers}
        return {name: kind.stages()[0][1] for name, kind in kinds.items() if kind.processing()}

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each dataset and generator; empty if no retriever is processed."""
        return [
            {"dataset": dataset, "generator": generator}
            for dataset in self.study.grid.datasets
            for generator in self.study.asked_generators()
            if self.bases
        ]

    @functools.cached_property
    def processed(self) -> list[Key]:
        """The wildcards for each processed retriever."""
        return [{"retriever": name} for name in self.bases]

    @functools.cached_property
    def before(self) -> list[StudyFile]:
        """The files that contain contexts before processing."""
        return files.contexts.each({"retriever": base} for base in dict.fromkeys(self.bases.values()))

    @functools.cached_property
    def cells(self) -> list[Key]:
        """One cell per k for each processed retriever and for each grid retriever whose passages are processed."""
        names = dict.fromkeys([*self.bases.values(), *self.bases])
        first = {context["k"]: context for context in reversed(self.study.contexts)}
        seed = self.study.grid.seeds[0]
        return [
            {"retriever": name, **context, "seed": seed}
            for name in names
            if name in self.study.grid.retrievers
            for context in first.values()
        ]

    @functools.cached_property
    def params(self) -> dict[str, object] | None:
        """Values for the page: the sections with generated answers, and the grid; None if nothing is processed."""
        asked = self.study.asked_generators()
        sections = [section for section in self.study.sections if section["generator"] in asked]
        return {"sections": sections, "grid": self.study.grid.mapping()} if self.sections else None


@functools.cache
def of_study(study: StudyOfRules) -> Processing:
    """Return ``study``'s data for the rule that describes the effects of processors."""
    return Processing(study)
