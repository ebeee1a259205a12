"""Put one relevant passage at a chosen rank, as Liu et al. (TACL 2024) place an answer."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.retrieval.judged import TwoSided


class Position(TwoSided):
    """One relevant passage at a chosen place of the ranking, the rest judged non-relevant. In `descending` the place is
    that in the prompt, first to last, and in `ascending` it is counted from the end; other orderings move it. Contexts
    nest over k, and at every place of the same seed a query's k passages are the same. A query without a relevant
    passage, or with too few others to reach the place, gets no context and is counted.
    """

    place: int = Field(ge=1, description="Rank of the relevant passage, from 1; at most the grid's smallest k.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every context has the place."""
        super().check(place, study)
        smallest = min(study.grid.k)
        if self.place > smallest:
            expected = f"at most the grid's smallest k, {smallest}: a shorter context has no such place"
            raise InputError(place + ".place'", str(self.place), expected)

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return the relevant passage among the others."""
        relevant, others = self.sides(labels, qid, fillers)
        before = self.place - 1
        return others[:before] + relevant[:1] + others[before:] if relevant and len(others) >= before else []
