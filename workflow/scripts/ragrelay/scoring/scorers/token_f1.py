"""Score answers by the F1 of the words that they share with a gold answer."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import token_f1


class TokenF1(GoldPairScorer):
    """F1 of the words that the answer shares with the gold answer, after both are normalised as in SQuAD."""

    def decisive(self) -> dict[str, object]:
        """Return the normalisation's version."""
        return {"kind": "token_f1", "numerics": SQUAD}

    def words(self) -> Tokens:
        """Return the function that splits a text into words at whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Return the function that computes precision, recall and F1 of shared words."""
        return token_f1
