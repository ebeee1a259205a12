"""ROUGE by the library that papers report."""

import functools
from importlib import metadata
from typing import Any, Literal

from pydantic import Field

from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Rouge(PairScorer):
    """ROUGE (Lin, 2004) by the package rouge-score, F1.

    Overlap of words, of pairs of words, or longest common subsequence. Precision is over the answer's words, recall
    over the reference's. Source: Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004.
    """

    variant: Literal["rouge1", "rouge2", "rougeL"] = Field(
        description="Words, pairs of words, or longest common subsequence."
    )
    stemmer: bool = Field(False, description="Compare Porter's stems.")

    def decisive(self) -> dict[str, Any]:
        """Its keys and the library's version."""
        return {
            "kind": "rouge",
            "rouge-score": metadata.version("rouge-score"),
            "variant": self.variant,
            "stemmer": self.stemmer,
        }

    def pair(self) -> Pair:
        """Precision, recall and F1."""
        from rouge_score import rouge_scorer, tokenizers

        class Tokenizer(tokenizers.DefaultTokenizer):  # type: ignore[misc]
            """Every text is cut into words once for all the pairs that it is in."""

            tokenize = functools.lru_cache(maxsize=1 << 14)(tokenizers.DefaultTokenizer.tokenize)

        scorer = rouge_scorer.RougeScorer([self.variant], tokenizer=Tokenizer(self.stemmer))

        def pair(answer: str, reference: str) -> tuple[float, float, float]:
            found = scorer.score(reference, answer)[self.variant]
            return found.precision, found.recall, found.fmeasure

        return pair
