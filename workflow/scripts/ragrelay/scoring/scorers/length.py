"""Score answers by their length."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Length(PairScorer):
    """Number of words in the answer; references have no effect.

    Words are separated by whitespace. Use it to see whether another measure mainly rewards length.
    """

    bounded = False

    def decisive(self) -> dict[str, object]:
        """Return the kind; nothing else affects the scores."""
        return {"kind": "length"}

    def words(self) -> Tokens:
        """Return the function for words separated by whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Count the answer's words."""
        return lambda answer, _: float(len(answer.split()))
