"""Score answers by their length."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Length(PairScorer):
    """Number of words in the answer, whatever the reference.

    Words are between blanks. It is what other measures may really follow.
    """

    bounded = False

    def decisive(self) -> dict[str, object]:
        """Return the kind: nothing else decides."""
        return {"kind": "length"}

    def words(self) -> Tokens:
        """Return words between blanks."""
        return between_blanks

    def pair(self) -> Pair:
        """Count the words of the answer."""
        return lambda answer, _: float(len(answer.split()))
