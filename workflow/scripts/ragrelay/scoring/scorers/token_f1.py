"""Score answers by the words that they share with a gold answer."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import token_f1


class TokenF1(GoldPairScorer):
    """Word F1 after SQuAD's normalisation."""

    def decisive(self) -> dict[str, object]:
        """Return the version of the normalisation."""
        return {"kind": "token_f1", "numerics": SQUAD}

    def words(self) -> Tokens:
        """Return words between blanks."""
        return between_blanks

    def pair(self) -> Pair:
        """Compare words as SQuAD's evaluation normalises them."""
        return token_f1
