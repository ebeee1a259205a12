"""Make contexts with a given number of relevant passages."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.retrieval.judged import OTHERS, TwoSided


class Graded(TwoSided):
    """A dose: a context with k passages has exactly `relevant` relevant passages (or only relevant ones if k is
    smaller), and the rest are judged non-relevant. The relevant passages have the first ranks, so that contexts nest
    over k, and over doses with the same seed; the ordering decides their positions in the prompt (`random` separates a
    dose from its position). A query with too few relevant passages gets no context, and a query with too few others
    gets a shorter context; both are counted.
    """

    relevant: int = Field(ge=0, description="How many relevant passages a context has.")

    def dose(self) -> tuple[int, str]:
        """Return the dose, and the kind of passages that fill its contexts."""
        return self.relevant, OTHERS[self.filler]

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return the dose's relevant passages, then the others."""
        relevant, others = self.sides(labels, qid, fillers)
        return relevant[: self.relevant] + others if len(relevant) >= self.relevant else []
