"""Build contexts with a given number of relevant passages."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.retrieval.judged import OTHERS, TwoSided


class Graded(TwoSided):
    """A fixed number of relevant passages per context (the dose), set by the key `relevant`. If k is smaller, all
    passages are relevant. Unless `filler` is set, the other passages were judged non-relevant. Relevant passages come
    first in the ranking, so a larger k only adds passages. With the same seed, a larger dose keeps all relevant
    passages of a smaller dose. Where passages appear in the prompt depends on the ordering; the ordering `random`
    separates the effects of dose and position. A query with too few relevant passages gets no context, and a query with
    too few non-relevant passages gets a shorter context; the numbers of such queries are reported.
    """

    relevant: int = Field(ge=0, description="Number of relevant passages in each context.")

    def dose(self) -> tuple[int, str]:
        """Return the dose (the number of relevant passages) and a name for the context's other passages."""
        return self.relevant, OTHERS[self.filler]

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return as many relevant passages as the dose requires, followed by the other passages."""
        relevant, others = self.sides(labels, qid, fillers)
        return relevant[: self.relevant] + others if len(relevant) >= self.relevant else []
