"""Base classes for battles, which compare each retriever's answers with an opponent's answers to the same queries."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy, Kind, Kinds
from ragrelay.base.settings import Name
from ragrelay.base.vocabulary.names import ZEROSHOT

Pair = tuple[str, str]
"""A retriever and its opponent."""


class Battle(Kind):
    """Base class for kinds of battles."""

    def judges(self) -> list[str]:
        """List the generators that vote in this battle.

        Returns:
            The generators' names; by default none.
        """
        return []

    def members(self, name: str) -> list[str]:
        """List the battles whose votes are combined into this battle's votes.

        Args:
            name: This battle's name.

        Returns:
            The battles' names; by default only ``name``.
        """
        return [name]


class Fought(Battle):
    """Base class for battles that collect votes themselves instead of combining other battles' votes."""

    against: Name | None = Field(
        None,
        description="Name of the opponent: a retriever in `grid.retrievers`, or `zeroshot`. By default, the primary "
        "comparison's reference retriever.",
    )
    pairs: Literal["opponent", "all"] = Field(
        "opponent",
        description="Pairs of retrievers to compare: `opponent` pairs each retriever with the opponent; `all` also "
        "pairs the retrievers with each other.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the opponent is part of the study, and that there are at least two systems to compare.

        Args:
            place: The config key, as the start of error messages.
            study: The checked study.

        Raises:
            InputError: The opponent is unknown, or there is only one system."""
        super().check(place, study)
        known = [*study.grid.retrievers, ZEROSHOT]
        if self.against is not None and self.against not in known:
            raise InputError(f"{place}.against'", repr(self.against), one_of(known, self.against))
        if self.against != ZEROSHOT and len(study.grid.retrievers) < 2:
            raise InputError("config key 'grid.retrievers'", "only one retriever", "at least two, or against: zeroshot")

    def met(self, retrievers: Sequence[str], opponent: str) -> list[Pair]:
        """List the pairs of systems to compare.

        Args:
            retrievers: The grid's retrievers.
            opponent: The system that every retriever is compared with.

        Returns:
            Each retriever paired with the opponent, followed by all other pairs of retrievers if ``pairs`` is `all`.
        """
        others = [name for name in retrievers if name != opponent]
        pairs = [(name, opponent) for name in others]
        if self.pairs == "all":
            pairs += [(name, other) for place, name in enumerate(others) for other in others[:place]]
        return pairs


BATTLE_KINDS = Kinds(Battle, "ragrelay.annexes.battles.kinds")


def opponent_of(battle: Fought, study: CheckedStudy, primary: str | None) -> str:
    """Return the battle's opponent, by default ``primary`` (the primary comparison's reference retriever)."""
    return battle.against or primary or study.grid.retrievers[0]
