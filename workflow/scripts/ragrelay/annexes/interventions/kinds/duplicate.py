"""Repeat one passage at the end of the context."""

from collections.abc import Sequence
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import OfOwnPassages


class Duplicate(OfOwnPassages):
    """Repeats each passage in the context, one at a time, at the end of the prompt. The effect is P with the copy minus
    P without the copy. Relevant passages are compared with passages judged non-relevant, at the same position and for
    the same query.
    """

    effect: ClassVar = (
        "the effect on P of repeating a relevant passage, minus the effect of repeating a non-relevant one from the "
        "same position, is {effect}"
    )
    measured: ClassVar = False
    about: ClassVar = "P with a copy at the end minus P without it"
    sign: ClassVar = 1

    def changed(self, docnos: Sequence[str], order: Sequence[int], rank: int) -> tuple[list[str], list[str]]:
        """Repeat the passage at ``rank`` at the end of the context."""
        return [*docnos, docnos[rank]], [*(docnos[place] for place in order), docnos[rank]]
