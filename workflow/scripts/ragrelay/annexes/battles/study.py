"""The report's data about a battle, for a dataset and generator."""

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from ragrelay.annexes.battles.tables import FOLLOWS, JUDGES, RELAY, STRENGTHS, WINS
from ragrelay.report.display.shown_tables import ShownTables


class BattleShown(ShownTables):
    """A battle's tables for a section of the page."""

    COLUMNS: ClassVar = {
        "battle_wins": WINS,
        "battle_relay": RELAY,
        "battle_agreement": FOLLOWS,
        "battle_strengths": STRENGTHS,
        "battle_judges": JUDGES,
    }

    @property
    def title(self) -> str:
        return f"{self.keys['dataset']} · {self.keys['generator']}"

    @property
    def battle(self) -> Mapping[str, Any]:
        """The battle's kind, opponent and judges."""
        battle: Mapping[str, Any] = self.params["battles"][self.keys["battle"]]
        return battle

    @property
    def cell(self) -> Mapping[str, Any]:
        """The ordering and k of the primary comparison."""
        cell: Mapping[str, Any] = self.params["cell"]
        return cell

    def primary(self, name: str) -> pl.DataFrame:
        """Return the rows of table ``name`` for the primary comparison's ordering and k."""
        return self[name].filter(**self.cell)

    @property
    def decided(self) -> pl.DataFrame:
        """The win rates against the opponent in the primary comparison's cell; only these win rates have verdicts."""
        return self.primary("battle_wins").filter(against=self.battle["opponent"])
