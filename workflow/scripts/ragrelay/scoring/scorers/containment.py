"""Score answers by whether they contain a gold answer."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import containment


class Containment(GoldPairScorer):
    """Whether the answer contains the gold answer (1 or 0), after both are normalised as in SQuAD."""

    def decisive(self) -> dict[str, object]:
        """Return the normalisation's version."""
        return {"kind": "containment", "numerics": SQUAD}

    def words(self) -> Tokens:
        """Return the function that splits a text into words at whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Return the function that looks for the gold answer's words in the answer."""
        return containment
