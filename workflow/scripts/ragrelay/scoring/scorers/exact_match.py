"""Score answers by whether they equal a gold answer."""

from ragrelay.scoring.pair_scorer import SQUAD, GoldPairScorer, Pair
from ragrelay.scoring.squad import exact_match


class ExactMatch(GoldPairScorer):
    """1 if the answer equals the gold answer after SQuAD's normalisation, otherwise 0."""

    def decisive(self) -> dict[str, object]:
        """Return the normalisation's version."""
        return {"kind": "exact_match", "numerics": SQUAD}

    def pair(self) -> Pair:
        """Return the function that compares texts after SQuAD's normalisation."""
        return exact_match
