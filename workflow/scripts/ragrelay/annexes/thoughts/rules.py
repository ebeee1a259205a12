"""Give rules what they need of thoughts: which generators think, and the tables and figures of each."""

import functools

from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key
from ragrelay.generation.generator import GENERATOR_KINDS, is_asked
from ragrelay.generation.thought_marks import thought_marks


class Thoughts:
    """What the rules of thoughts need of a study."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    @functools.cached_property
    def generators(self) -> list[str]:
        """The grid's generators that think, without those whose answers are imported."""
        entries = {name: self.study.generator(name) for name in self.study.grid.generators}
        return [name for name, one in entries.items() if is_asked(one) and thought_marks(one) is not None]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """Every dataset with every generator that thinks."""
        return [
            {"dataset": dataset, "generator": generator}
            for dataset in self.study.grid.datasets
            for generator in self.generators
        ]

    @functools.cached_property
    def drawn(self) -> dict[str, object] | None:
        """Plain values for figures and sentences: the grid, and each dataset's primary comparison; None as above."""
        if not self.sections:
            return None
        grid = self.study.grid
        primary = {name: self.study.primary(name) for name in grid.datasets}
        return {"grid": grid.mapping() | {"kinds": self.study.retriever_kinds}, "primary": primary}

    def budget_of(self, generator: str) -> int | None:
        """Return the most tokens that a thought can have: its budget, or max_tokens where the answer shares them."""
        definition = self.study.generator(generator)
        return GENERATOR_KINDS.of(definition).thought_budget(definition) or definition.get("max_tokens")

    def base_of(self, dataset: str) -> str | None:
        """Return the retriever that others are compared with, the reference of the primary pair; None without one."""
        primary = self.study.primary(dataset)
        return primary["reference"] if primary else None


@functools.cache
def of_study(study: StudyOfRules) -> Thoughts:
    """Return what rules need of thoughts in ``study``."""
    return Thoughts(study)
