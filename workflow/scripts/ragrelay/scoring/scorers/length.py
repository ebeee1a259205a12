"""Score answers by their length."""

from ragrelay.collection.words import Tokens, between_blanks
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Length(PairScorer):
    """Number of words in the answer; references have no effect.

    Words are separated by whitespace. Use this scorer to see whether another scorer mainly rewards length.
    """

    bounded = False

    def decisive(self) -> dict[str, object]:
        """Return the scorer's kind, because nothing else affects the scores."""
        return {"kind": "length"}

    def words(self) -> Tokens:
        """Return the function that splits a text into words at whitespace."""
        return between_blanks

    def pair(self) -> Pair:
        """Return the function that counts the answer's words."""
        return lambda answer, _: float(len(answer.split()))
