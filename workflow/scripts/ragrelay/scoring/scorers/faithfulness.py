"""Score answers by whether the context supports each sentence."""

from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeQuestion, JudgeScorer


class Faithfulness(JudgeScorer):
    """A generator judges whether the answer's context supports each sentence of the answer. For each sentence, the
    judge's probability of yes is divided by its probability of yes or no; the score is the mean of these values.
    Zero-shot answers have no context and therefore no score, so utility isn't defined.
    """

    references: Literal["context"] = Field(  # type: ignore[assignment]
        "context", description="What the judge compares the answer with: the passages in the answer's context."
    )
    prompt: Name = Field("faithfulness", description="Name of a judge template in `config/judge_prompts/`.")

    def placeholders(self) -> set[str]:
        """Return the placeholders for the context's passages and the sentence."""
        return {"passages", "sentence"}

    def words(self) -> list[str]:
        """Return yes and no."""
        return ["yes", "no"]

    def size(self, case: JudgeCase) -> int:
        """Return the number of passages in the context."""
        return len(case.passages)

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return a question for each sentence, or no questions if the answer has no context."""
        if not case.passages:
            return []
        texts = [sentence.text for sentence in case.read_sentences()]
        return [JudgeQuestion({"passages": case.passages, "sentence": text}) for text in texts]

    def measured(self) -> list[pl.Expr]:
        """Return the sentences' mean share of yes (relative to yes or no), or null if there are no sentences."""
        return [pl.col("shares").list.get(0).mean().alias("f1")]
