"""Provide the rules for interventions with data: definitions, and the inputs and params of jobs."""

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
    """A study's data for the rules about interventions."""

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
        """A key for each retriever whose contexts are changed, to fill in path patterns."""
        return [{"retriever": name} for name in self.retrievers]

    def of_retriever(self, retriever: str) -> dict[str, dict[str, object]]:
        """Return the interventions on a retriever's contexts, keyed by name."""
        return {name: one for name, one in self.definitions.items() if retriever in one["retrievers"]}

    def modules_of(self, retriever: str) -> list[str]:
        """Return the modules that define the kinds of interventions on a retriever's contexts."""
        return sorted({INTERVENTION_KINDS.module(one) for one in self.of_retriever(retriever).values()})

    @functools.cached_property
    def modules(self) -> list[str]:
        """The modules that define the kinds of all the study's interventions."""
        return sorted({INTERVENTION_KINDS.module(one) for one in self.definitions.values()})

    @functools.cached_property
    def jobs(self) -> list[Key]:
        """A key for every combination of a dataset and a retriever whose contexts are changed."""
        return [{"dataset": dataset, **each} for dataset in self.study.grid.datasets for each in self.each_retriever]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """A key per dataset, generator with an engine, and scorer without a judge; empty without interventions."""
        study = self.study
        return [
            {"dataset": dataset, "generator": generator, "scorer": scorer}
            for dataset in study.grid.datasets
            for generator in study.asked_generators()
            for scorer in study.scoring.computed
            if self.definitions
        ]

    def leaves_out(self, generator: str) -> bool:
        """Return whether changed contexts that exceed the generator's window are left out and don't raise an error."""
        return bool(self.study.generator(generator)["over_window"] == TRUNCATE)

    @functools.cached_property
    def of_grid(self) -> dict[str, object]:
        """The keys of the grid that determine the changed contexts, with their values."""
        grid = self.study.grid
        return {"ks": sorted(grid.k), "orderings": grid.orderings, "measure": grid.measures[0]}

    def of_retrievers(self, pattern: StudyFile) -> OfJob:
        """Return a function of wildcards that gives the file of each retriever whose contexts are changed."""
        paths = pattern.each(self.each_retriever)
        return lambda wildcards: paths

    def passage_effects(self, section: Mapping[str, str]) -> list[StudyFile]:
        """Return the table of a section's single-passage effects; empty if no intervention computes such effects."""
        kinds = [INTERVENTION_KINDS.of(one) for one in self.definitions.values()]
        own = any(not kind.needs_pairs for kind in kinds) and dict(section) in self.sections
        return [made_by("analyse_interventions")["passage_effects"].at(**section)] if own else []


@functools.cache
def of_study(study: StudyOfRules) -> Interventions:
    """Return the data on interventions that the rules need for ``study``."""
    return Interventions(study)
