"""Score answers by whether they contain a gold answer."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import containment


class Containment(GoldPairScorer):
    """1 if the answer contains the gold answer's words after SQuAD's normalisation, else 0."""

    def decisive(self) -> dict[str, object]:
        """Return the version of the normalisation."""
        return {"kind": "containment", "numerics": SQUAD}

    def words(self) -> Tokens:
        """Return words between blanks."""
        return between_blanks

    def pair(self) -> Pair:
        """Compare words as SQuAD's evaluation normalises them."""
        return containment
