"""What a kind of source is that asks a generator about each passage and reads the probabilities of words."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from ragrelay.annotations.source import BY_JUDGE, Given, Source
from ragrelay.settings import Name


class JudgeSource(Source):
    """A generator asked about each passage: words' probabilities at one place of its answer."""

    judge = True
    columns: ClassVar[tuple[str, ...]] = ("label",)
    """The columns that ``judged`` gives."""

    generator: Name | None = Field(
        None,
        description="Name of the generator that is asked, with `engine: vllm`; each of the grid's own for its answers "
        "where absent.",
    )
    prompt: Name = Field(
        "relevance",
        description="Name of a template in `config/prompts/`, whose k-shot part asks about the one passage.",
    )

    bias_checks: int = Field(
        0,
        ge=0,
        description="How many of the passages are judged again with something changed that should not count: the order "
        "of what the judge is shown, or the passage's length. 0: none.",
    )

    def judges(self, generators: Sequence[str]) -> list[str]:
        """The one that is named, or all."""
        return [self.generator] if self.generator else list(generators)

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """The labels by its judge."""
        return BY_JUDGE, {"source": name, "judge": self.generator or generator}

    def words(self) -> list[str]:
        """The words whose probabilities are read."""
        raise NotImplementedError

    def begins(self) -> str:
        """Text that the answer is made to begin with, before the word."""
        return ""

    def judged(self) -> list[pl.Expr]:
        """``columns``, from a list column ``shares``: the share of each of ``words`` in their probability together."""
        raise NotImplementedError

    def score(self) -> pl.Expr:
        """The last of ``columns``, which checks for bias compare: an aggregation over a passage's one question."""
        return self.judged()[-1].first()

    def labels(self, given: Given) -> pl.DataFrame:
        return given.own_sets()
