"""A generator asked about passages."""

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from ragrelay.annotations.source import BY_JUDGE, ContinuousSource, Given
from ragrelay.kinds import CheckedStudy, Name, Text


class Llm(ContinuousSource):
    """A generator asked whether the passage is relevant: its probability of yes over that of yes or no as the
    first token of the answer."""

    generator: Name | None = Field(
        None,
        description="Name of the generator that is asked, with `engine: vllm`; each of the grid's own for its answers "
        "where absent.",
    )
    prompt: Name = Field(
        "relevance",
        description="Name of a template in `config/prompts/`, whose k-shot part asks about the one passage.",
    )
    yes_word: Text = Field(
        "yes", description="The word that says so; its first token is read, with and without a blank before it."
    )
    no_word: Text = Field("no", description="The word that denies it.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """The generators that are asked must be able to score texts."""
        super().check(place, study)
        for name in self.judges(study.grid["generators"]):
            study.check_judge(f"{place}.generator'", name, self.prompt)

    def judges(self, generators: Sequence[str]) -> list[str]:
        """The one that is named, or all."""
        return [self.generator] if self.generator else list(generators)

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """The labels by its judge."""
        return BY_JUDGE, {"source": name, "judge": self.generator or generator}

    def labels(self, given: Given) -> pl.DataFrame:
        """Those of its job."""
        return given.own_sets()
