"""Repeat one passage of the context at its end."""

from collections.abc import Sequence
from typing import ClassVar

from ragrelay.annexes.interventions.intervention import OfOwnPassages


class Duplicate(OfOwnPassages):
    """Each passage of the context is repeated at the prompt's end in turn; its effect is P with the copy less P as it
    was. Relevant passages are compared with judged non-relevant ones of the same query at equal places."""

    effect: ClassVar = (
        "repeating a relevant passage changes P by {effect} more than repeating a non-relevant one from the same "
        "position"
    )
    measured: ClassVar = False
    about: ClassVar = "P with a copy at the end minus P without it"
    sign: ClassVar = 1

    def changed(self, docnos: Sequence[str], order: Sequence[int], rank: int) -> tuple[list[str], list[str]]:
        """Return the context with the passage again at its end."""
        return [*docnos, docnos[rank]], [*(docnos[place] for place in order), docnos[rank]]
