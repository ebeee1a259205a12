"""Score answers with sentence BLEU, computed with sacrebleu."""

from importlib import metadata
from typing import ClassVar

from ragrelay.base.io.characters import composed
from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Bleu(PairScorer):
    """Sentence BLEU (Papineni et al., ACL 2002), computed with sacrebleu, from 0 to 1.

    BLEU uses up to 4-grams, exponential smoothing, effective order and the tokenizer 13a. The answer is compared with
    each reference separately, and the best or the mean score is used. Package: Post, A Call for Clarity in Reporting
    BLEU Scores, WMT 2018.
    """

    as_published: ClassVar[bool] = True

    def decisive(self) -> dict[str, object]:
        """Return the scorer's kind and the version of sacrebleu."""
        return {"kind": "bleu", "sacrebleu": metadata.version("sacrebleu")}

    def words(self) -> Tokens:
        """Return the function that splits a text into words at whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Return the function that computes BLEU for an answer and a reference."""
        from sacrebleu.metrics.bleu import BLEU

        metric = BLEU(effective_order=True)
        return lambda answer, reference: metric.sentence_score(composed(answer), [composed(reference)]).score / 100
