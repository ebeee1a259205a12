"""Leave one passage out of the context."""

from collections.abc import Sequence
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import OfOwnPassages


class LeaveOut(OfOwnPassages):
    """Leaves out the passages in the context, one at a time. The effect is P with the passage minus P without the
    passage. Relevant passages are compared with passages judged non-relevant, at the same position and for the same
    query, so the effect of having one passage fewer cancels out.
    """

    effect: ClassVar = (
        "the effect on P of a relevant passage in the context, minus the effect of a non-relevant one at the same "
        "position, is {effect}"
    )
    about: ClassVar = "P with it minus P without it"
    sign: ClassVar = -1

    def changed(self, docnos: Sequence[str], order: Sequence[int], rank: int) -> tuple[list[str], list[str]]:
        """Leave the passage at ``rank`` out of the context."""
        ranked = [docno for place, docno in enumerate(docnos) if place != rank]
        return ranked, [docnos[place] for place in order if place != rank]
