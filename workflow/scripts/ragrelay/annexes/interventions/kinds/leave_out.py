"""Leave one passage out of the context."""

from collections.abc import Sequence
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import OfOwnPassages


class LeaveOut(OfOwnPassages):
    """Leaves out each passage of the context in turn; the effect is P with it minus P without it. Relevant passages are
    compared with judged non-relevant passages of the same query at equal positions, so the effect of merely having one
    passage less cancels out.
    """

    effect: ClassVar = (
        "having a relevant passage in the context changes P by {effect} more than having a non-relevant one at the "
        "same position"
    )
    about: ClassVar = "P with it minus P without it"
    sign: ClassVar = -1

    def changed(self, docnos: Sequence[str], order: Sequence[int], rank: int) -> tuple[list[str], list[str]]:
        """Return the context without the passage."""
        ranked = [docno for place, docno in enumerate(docnos) if place != rank]
        return ranked, [docnos[place] for place in order if place != rank]
