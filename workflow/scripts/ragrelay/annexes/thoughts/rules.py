"""Provide data for the rules that describe thoughts: the reasoning generators, and values for tables and figures."""

import functools

from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key
from ragrelay.generation.generator import GENERATOR_KINDS, is_asked
from ragrelay.generation.thought_marks import thought_marks


class Thoughts:
    """A study's data for the rules that describe thoughts."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    @functools.cached_property
    def generators(self) -> list[str]:
        """The grid's reasoning generators, except generators with imported answers."""
        entries = {name: self.study.generator(name) for name in self.study.grid.generators}
        return [name for name, one in entries.items() if is_asked(one) and thought_marks(one) is not None]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each dataset and reasoning generator."""
        return [
            {"dataset": dataset, "generator": generator}
            for dataset in self.study.grid.datasets
            for generator in self.generators
        ]

    @functools.cached_property
    def drawn(self) -> dict[str, object] | None:
        """The grid and each dataset's primary comparison, for the page; None if no generator is a reasoning model."""
        if not self.sections:
            return None
        grid = self.study.grid
        primary = {name: self.study.primary(name) for name in grid.datasets}
        return {"grid": grid.mapping() | {"kinds": self.study.retriever_kinds}, "primary": primary}

    def budget_of(self, generator: str) -> int | None:
        """Return a thought's token limit: the thought budget, or max_tokens if thought and answer share a budget."""
        definition = self.study.generator(generator)
        return GENERATOR_KINDS.of(definition).thought_budget(definition) or definition.get("max_tokens")

    def base_of(self, dataset: str) -> str | None:
        """Return the retriever with which others are compared: the primary comparison's reference, or None."""
        primary = self.study.primary(dataset)
        return primary["reference"] if primary else None


@functools.cache
def of_study(study: StudyOfRules) -> Thoughts:
    """Return ``study``'s data for the rules that describe thoughts."""
    return Thoughts(study)
