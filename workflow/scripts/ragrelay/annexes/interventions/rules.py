"""Provide data for the intervention rules: definitions, and the inputs and params of jobs."""

import functools
from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study.files import made_by
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key, OfJob
from ragrelay.generation.requests import TRUNCATE


class Interventions:
    """A study's data for the intervention rules."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.definitions: dict[str, dict[str, Any]] = study.config.get("interventions", {})

    @functools.cached_property
    def retrievers(self) -> list[str]:
        """The retrievers whose contexts are changed, in the grid's order."""
        named = {name for one in self.definitions.values() for name in one["retrievers"]}
        return [name for name in self.study.grid.retrievers if name in named]

    @functools.cached_property
    def each_retriever(self) -> list[Key]:
        """The wildcards for each retriever whose contexts are changed."""
        return [{"retriever": name} for name in self.retrievers]

    def of_retriever(self, retriever: str) -> dict[str, dict[str, object]]:
        """Return the interventions that change a retriever's contexts, keyed by name."""
        return {name: one for name, one in self.definitions.items() if retriever in one["retrievers"]}

    def modules_of(self, retriever: str) -> list[str]:
        """Return the modules of the kinds of interventions that change a retriever's contexts."""
        return sorted({INTERVENTION_KINDS.module(one) for one in self.of_retriever(retriever).values()})

    @functools.cached_property
    def modules(self) -> list[str]:
        """The modules of all kinds of interventions in the study."""
        return sorted({INTERVENTION_KINDS.module(one) for one in self.definitions.values()})

    @functools.cached_property
    def jobs(self) -> list[Key]:
        """The wildcards for every dataset and every retriever whose contexts are changed."""
        return [{"dataset": dataset, **each} for dataset in self.study.grid.datasets for each in self.each_retriever]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each combination of dataset, generator with an engine, and scorer that computes scores."""
        study = self.study
        return [
            {"dataset": dataset, "generator": generator, "scorer": scorer}
            for dataset in study.grid.datasets
            for generator in study.asked_generators()
            for scorer in study.scoring.computed
            if self.definitions
        ]

    def leaves_out(self, generator: str) -> bool:
        """Return whether prompts that exceed the generator's window are left out; otherwise, they cause an error."""
        return bool(self.study.generator(generator)["over_window"] == TRUNCATE)

    @functools.cached_property
    def of_grid(self) -> dict[str, object]:
        """The grid settings that determine the changed contexts: ``ks``, ``orderings`` and ``measure``."""
        grid = self.study.grid
        return {"ks": sorted(grid.k), "orderings": grid.orderings, "measure": grid.measures[0]}

    def of_retrievers(self, pattern: StudyFile) -> OfJob:
        """Return an input function that lists a file for each retriever whose contexts are changed."""
        paths = pattern.each(self.each_retriever)
        return lambda wildcards: paths

    def passage_effects(self, section: Mapping[str, str]) -> list[StudyFile]:
        """Return the section's table of single-passage effects, or an empty list if there are no such effects."""
        kinds = [INTERVENTION_KINDS.of(one) for one in self.definitions.values()]
        own = any(not kind.needs_pairs for kind in kinds) and dict(section) in self.sections
        return [made_by("analyse_interventions")["passage_effects"].at(**section)] if own else []


@functools.cache
def of_study(study: StudyOfRules) -> Interventions:
    """Return ``study``'s data for the intervention rules."""
    return Interventions(study)
