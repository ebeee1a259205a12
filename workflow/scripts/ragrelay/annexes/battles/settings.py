"""Declare the config key for battles."""

from typing import Annotated, Any

from pydantic import Field

from ragrelay.annexes.battles.battle import BATTLE_KINDS
from ragrelay.base.settings import Name, Settings


class BattleKeys(Settings):
    """Battles between retrievers' answers."""

    battles: dict[Name, Annotated[dict[Any, Any], BATTLE_KINDS]] | None = Field(
        None,
        min_length=1,
        description="Named battles, in which a judge or people decide which of two answers to a query is better.",
    )
