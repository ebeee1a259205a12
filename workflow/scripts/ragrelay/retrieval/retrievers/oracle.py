"""Choose passages by their judgements, as oracles do (Tian et al., ECIR 2025)."""

from collections.abc import Mapping, Sequence
from math import inf

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import RefusedError
from ragrelay.retrieval.judged import OTHERS, Judged

ONE_OF = ("min_label", "max_label", "ideal")


class Oracle(Judged):
    """The judged passages with labels from `min_label` to `max_label`, in seeded random order or, with `ideal`, ranked
    by label.
    """

    min_label: int | None = Field(None, description="Lowest label of the passages to include.")
    max_label: int | None = Field(None, description="Highest label of the passages to include.")
    ideal: bool | None = Field(
        None,
        description="Rank the passages by label, highest first, with ties in seeded random order. No other ranking of "
        "passages with text has a higher nDCG. Without this key, the passages are in random order, so nDCG may be "
        "lower than a retriever's.",
    )

    @classmethod
    def check_written(cls, given: Mapping[str, object]) -> None:
        """Check that at least one of the keys that choose passages is set."""
        if not any(key in given for key in ONE_OF):
            raise RefusedError("none of " + ", ".join(map(repr, ONE_OF)), "at least one of these keys")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that `min_label` isn't above `max_label`."""
        super().check(place, study)
        lowest = -inf if self.min_label is None else self.min_label
        if lowest > (inf if self.max_label is None else self.max_label):
            raise InputError(place + "'", "min_label above max_label", "min_label ≤ max_label")

    def dose(self) -> tuple[int, str] | None:
        """Return a dose of 0 if `max_label` is 0; otherwise None, because the dose then varies."""
        return (0, OTHERS[None]) if self.max_label == 0 else None

    def drawn(self, labels: Mapping[str, int], qid: str, fillers: Sequence[str] | None = None) -> list[str]:
        """Return all passages within the bounds, in seeded random order or by label, followed by the fillers."""
        docnos = self.permuted(labels, self.min_label, self.max_label, qid)
        ordered = sorted(docnos, key=lambda docno: -labels[docno]) if self.ideal else docnos
        return [*ordered, *(fillers or ())] if ordered else []
