"""Score answers with chrF, computed with sacrebleu."""

from importlib import metadata
from typing import ClassVar

from pydantic import Field

from ragrelay.base.io.characters import composed
from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Chrf(PairScorer):
    """chrF (Popović, WMT 2015), computed with sacrebleu, from 0 to 1.

    The score is F2 over character n-grams of up to 6 characters; `word_order: 2` gives chrF++ (Popović, WMT 2017).
    """

    as_published: ClassVar[bool] = True

    word_order: int = Field(
        0,
        ge=0,
        le=4,
        description="Maximum length of word n-grams, which are used in addition to character n-grams; 2 gives chrF++.",
    )

    def decisive(self) -> dict[str, object]:
        """Return the scorer's kind, the version of sacrebleu, and ``word_order``."""
        return {"kind": "chrf", "sacrebleu": metadata.version("sacrebleu"), "word_order": self.word_order}

    def words(self) -> Tokens | None:
        """Return the function that splits a text into words at whitespace, or None if only characters are compared."""
        return between_blanks if self.word_order else None

    def pair(self) -> Pair:
        """Return the function that computes chrF for an answer and a reference."""
        from sacrebleu.metrics.chrf import CHRF

        metric = CHRF(word_order=self.word_order)
        return lambda answer, reference: metric.sentence_score(composed(answer), [composed(reference)]).score / 100
