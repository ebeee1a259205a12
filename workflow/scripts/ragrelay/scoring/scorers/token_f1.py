"""Score answers by the words that they share with a gold answer."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import token_f1


class TokenF1(GoldPairScorer):
    """F1 of shared words after SQuAD's normalisation."""

    def decisive(self) -> dict[str, object]:
        """Return the normalisation's version."""
        return {"kind": "token_f1", "numerics": SQUAD}

    def words(self) -> Tokens:
        """Return the function that splits a text into words at whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Return the function that compares words after SQuAD's normalisation."""
        return token_f1
