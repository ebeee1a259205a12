"""Label passages by asking a generator whether each passage is relevant."""

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.judge_source import JudgeSource
from ragrelay.annexes.labels.source import ContinuousSource
from ragrelay.base.settings import Text


class Llm(JudgeSource, ContinuousSource):
    """A generator is asked whether a passage is relevant. The label is the probability that the reply's first token is
    yes, divided by the probability that it is yes or no.
    """

    yes_word: Text = Field(
        "yes", description="Reply word for *relevant*; its first token is used, with and without a leading space."
    )
    no_word: Text = Field("no", description="Reply word for *not relevant*.")

    def words(self) -> list[str]:
        """Return the words for yes and no."""
        return [self.yes_word, self.no_word]

    def judged(self) -> list[pl.Expr]:
        """Compute the label, P(yes) / (P(yes) + P(no)) (Nogueira et al., Findings of EMNLP 2020)."""
        return [pl.col("shares").list.first().alias("label")]
