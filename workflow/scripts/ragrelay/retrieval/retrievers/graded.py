"""Make contexts with a given number of relevant passages."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.retrieval.judged import OTHERS, TwoSided


class Graded(TwoSided):
    """A dose: a context of k passages has exactly `relevant` relevant ones (all, where k is smaller), the rest judged
    non-relevant. The relevant ones have the first ranks, so that contexts nest over k, and over doses of the same seed;
    the ordering decides where they are in the prompt (`random` for a dose apart from its place). A query with fewer
    relevant passages gets no context and one with too few others a shorter one; both are counted.
    """

    relevant: int = Field(ge=0, description="How many relevant passages a context has.")

    def dose(self) -> tuple[int, str]:
        """Return the dose, and what fills its contexts."""
        return self.relevant, OTHERS[self.filler]

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return the relevant passages of the dose, then the others."""
        relevant, others = self.sides(labels, qid, fillers)
        return relevant[: self.relevant] + others if len(relevant) >= self.relevant else []
