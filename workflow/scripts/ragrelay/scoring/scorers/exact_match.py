"""Score answers by whether they equal a gold answer."""

from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import exact_match


class ExactMatch(GoldPairScorer):
    """Whether the answer equals the gold answer (1 or 0), after both are normalised as in SQuAD."""

    def decisive(self) -> dict[str, object]:
        """Return the normalisation's version."""
        return {"kind": "exact_match", "numerics": SQUAD}

    def pair(self) -> Pair:
        """Return the function that compares the normalised texts."""
        return exact_match
