"""Define the base class for annotation sources that ask a generator about each passage."""

from collections.abc import Sequence
from typing import ClassVar

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import BY_JUDGE, AnnotationSource, SourceData
from ragrelay.base.settings import Name


class JudgeSource(AnnotationSource):
    """Base class for sources that ask a generator about each passage and read the probabilities of reply words."""

    judge = True
    columns: ClassVar[tuple[str, ...]] = ("label",)
    """Names of the columns that ``judged`` computes."""

    generator: Name | None = Field(
        None,
        description="Name of the generator that judges passages; it must not write thoughts. By default, each "
        "generator in the grid labels the passages for its own answers.",
    )
    prompt: Name = Field(
        "relevance",
        description="Name of a template in `config/prompts/` whose k-shot part asks about one passage.",
    )

    bias_checks: int = Field(
        0,
        ge=0,
        description="Number of passages that the judge labels again after a change that shouldn't matter: a different "
        "order of the judge's input, or a longer passage. 0 turns these checks off.",
    )

    def judges(self, generators: Sequence[str]) -> list[str]:
        """Return the configured generator, or all ``generators`` if none is configured."""
        return [self.generator] if self.generator else list(generators)

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """Return the job that labels passages with this source's judge."""
        return BY_JUDGE, {"source": name, "judge": self.generator or generator}

    def words(self) -> list[str]:
        """Return the reply words whose probabilities are read."""
        raise NotImplementedError

    def begins(self) -> str:
        """Return the prefix that must precede the word in a reply."""
        return ""

    def judged(self) -> list[pl.Expr]:
        """Compute ``columns`` from ``shares``, a list column with each word's share of the words' total probability."""
        raise NotImplementedError

    def score(self) -> pl.Expr:
        """Return the value that bias checks compare, which is the last column in ``columns``."""
        return self.judged()[-1].first()

    def labels(self, data: SourceData) -> pl.DataFrame:
        return data.own_sets()
