"""Leave one passage of the context out."""

from collections.abc import Sequence
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import OfOwnPassages


class LeaveOut(OfOwnPassages):
    """Each passage of the context is left out in turn; its effect is P with it less P without it. Relevant passages are
    compared with judged non-relevant ones of the same query at equal places, so that what any passage less does is in
    neither."""

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
