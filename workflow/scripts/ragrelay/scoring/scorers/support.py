"""Score answers by whether the cited passages support the sentences that cite them."""

from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeQuestion, JudgeScorer

CITED, UNCITED = "cited", "uncited"
WORTH = {"full": 1.0, "partial": 0.5, "none": 0.0}
"""The weight of each word: TREC RAG's weights for full, partial and no support."""


class Support(JudgeScorer):
    """For each sentence with a citation (such as `[2]` in the text, or a citation in a TREC RAG file), a generator
    judges whether the cited passage supports the sentence fully (1), partially (0.5) or not at all (0). The sentence's
    score is the mean of these values, weighted by the judge's probabilities of full, partial and none. Precision is the
    mean score over sentences with a citation, and recall is the mean over all sentences, as in TREC RAG (Thakur et al.,
    2025). Zero-shot answers have no context and therefore no score, so utility isn't defined.
    """

    references: Literal["context"] = Field(  # type: ignore[assignment]
        "context",
        description="What citations refer to: the passages in the answer's context. `[1]` is the first "
        "passage in the prompt.",
    )
    citations: Literal["first", "all"] = Field(
        "first",
        description="Which of a sentence's citations to use: only the first (`first`, as in TREC RAG) or all citations "
        "together (`all`).",
    )
    prompt: Name = Field("support", description="Name of a judge template in `config/judge_prompts/`.")

    def placeholders(self) -> set[str]:
        """Return the placeholders for the cited passages and the sentence."""
        return {"passages", "sentence"}

    def words(self) -> list[str]:
        """Return the words for full, partial and no support."""
        return list(WORTH)

    def size(self, case: JudgeCase) -> int:
        """Return the number of passages in the context."""
        return len(case.passages)

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return a question for each sentence, or no questions if the answer has no context.

        If a sentence doesn't cite any passage in the context, the question has no texts and isn't sent.
        """
        if not case.passages:
            return []
        questions = []
        for text, cited in case.read_sentences() if case.sentences is None else case.sentences:
            chosen = cited[:1] if self.citations == "first" else cited
            passages = [case.passages[number - 1] for number in chosen if 1 <= number <= len(case.passages)]
            texts = {"passages": passages, "sentence": text} if passages else None
            questions.append(JudgeQuestion(texts, CITED if cited else UNCITED))
        return questions

    def measured(self) -> list[pl.Expr]:
        """Return precision (null if no sentence has a citation), recall (null if there are no sentences) and f1.

        f1 is the harmonic mean of precision and recall, or 0 for an answer that doesn't cite anything.
        """
        shares = [pl.col("shares").list.get(place) * worth for place, worth in enumerate(WORTH.values())]
        support = pl.when(pl.col("item").is_not_null()).then(pl.sum_horizontal(shares).fill_null(0.0))
        precision, recall = support.filter(pl.col("item") == CITED).mean(), support.mean()
        total = precision + recall
        f1 = pl.when(total > 0).then(2 * precision * recall / total).when(recall.is_not_null()).then(0.0)
        return [precision.alias("precision"), recall.alias("recall"), f1.alias("f1")]
