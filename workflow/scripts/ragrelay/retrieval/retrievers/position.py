"""Put one relevant passage at a chosen rank, as Liu et al. (TACL 2024) do for the document with the answer."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.retrieval.judged import TwoSided


class Position(TwoSided):
    """One relevant passage at a chosen rank, among passages that were judged non-relevant. With the ordering
    `descending`, the rank is the passage's position in the prompt, counted from the first passage; with `ascending`, it
    is counted from the last. With other orderings, the position differs from the rank. A larger k only adds passages.
    With the same seed, a query's k passages are the same for every chosen rank. A query without a relevant passage, or
    with too few non-relevant passages, gets no context; the number of such queries is reported.
    """

    place: int = Field(ge=1, description="Rank of the relevant passage, counted from 1; at most the grid's smallest k.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every context is long enough for the position."""
        super().check(place, study)
        smallest = min(study.grid.k)
        if self.place > smallest:
            expected = f"at most {smallest}, the grid's smallest k, because a shorter context has no such position"
            raise InputError(place + ".place'", str(self.place), expected)

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return the non-relevant passages or fillers, with a relevant passage inserted at the chosen rank."""
        relevant, others = self.sides(labels, qid, fillers)
        before = self.place - 1
        return others[:before] + relevant[:1] + others[before:] if relevant and len(others) >= before else []
