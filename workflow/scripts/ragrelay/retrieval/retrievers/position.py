"""Put one relevant passage at a chosen rank, as Liu et al. (TACL 2024) place an answer."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.retrieval.judged import TwoSided


class Position(TwoSided):
    """One relevant passage at a chosen position in the ranking; the rest are judged non-relevant. In `descending` this
    is the position in the prompt, counted from the first passage, and in `ascending` from the last; other orderings
    move it. Contexts nest over k, and a query's k passages are the same at every position with the same seed. A query
    gets no context, and is counted, if it has no relevant passage or too few others to reach the position.
    """

    place: int = Field(ge=1, description="Rank of the relevant passage, from 1; at most the grid's smallest k.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every context has the position."""
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
