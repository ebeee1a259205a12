"""Length of answers."""

from typing import Any

from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Length(PairScorer):
    """Words of the answer, whatever the reference.

    Words are between blanks. It is what other measures may really follow.
    """

    bounded = False

    def decisive(self) -> dict[str, Any]:
        """Nothing but the kind."""
        return {"kind": "length"}

    def pair(self) -> Pair:
        """The number of words."""
        return lambda answer, _: float(len(answer.split()))
