"""Combine the votes of several battles."""

from typing import Annotated

from pydantic import Field

from ragrelay.annexes.battles.battle import BATTLE_KINDS, Battle, Fought
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name, Unique

LEAST = 3


class Panel(Battle):
    """The mean vote of several battles, for queries that have a vote in each of the battles. A panel reaches a verdict
    only if the verdict stays the same whichever battle is left out."""

    of: Annotated[Unique[Name], Field(min_length=LEAST)] = Field(
        description=f"Names of at least {LEAST} other battles that have the same opponent and pairs."
    )

    def members(self, name: str) -> list[str]:
        return list(self.of)

    def check(self, place: str, study: CheckedStudy) -> None:
        super().check(place, study)
        battles = study.config["battles"]
        met = []
        for name in self.of:
            others = [other for other in battles if battles[other]["kind"] != "panel"]
            if name not in others:
                found = f"{name!r}, which is a panel" if name in battles else repr(name)
                raise InputError(f"{place}.of'", found, one_of(others, name, what="another battle"))
            member = BATTLE_KINDS.of(battles[name])
            if isinstance(member, Fought):
                met.append((member.against, member.pairs))
        if len(set(met)) > 1:
            raise InputError(
                f"{place}.of'", "battles with different opponents or pairs", "the same opponents and pairs"
            )
