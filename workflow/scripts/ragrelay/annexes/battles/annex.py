"""The annex for battles: comparisons of two retrievers' answers to the same query."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ragrelay.annexes.battles.battle import BATTLE_KINDS
from ragrelay.annexes.battles.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.battles.settings import BattleKeys
from ragrelay.base.annex import Annex
from ragrelay.base.kinds import CheckedStudy


class Battles(Annex):
    """Let a judge, people or a panel decide which of two answers is better, and estimate win rates (key `battles`)."""

    order = 10
    keys = BattleKeys
    kinds: ClassVar = {"battles": BATTLE_KINDS}
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    shown = "analyse_battles"
    template = "battles.html.j2"
    link = ("battles", "Battles")

    def check(self, study: CheckedStudy) -> None:
        for name, definition in (study.config.get("battles") or {}).items():
            BATTLE_KINDS.of(definition).check(f"config key 'battles.{name}", study)

    def generators(self, config: Mapping[str, Any]) -> Iterable[str]:
        battles = [BATTLE_KINDS.of(one) for one in (config.get("battles") or {}).values()]
        return [judge for battle in battles for judge in battle.judges() if judge in config["generators"]]

    def left_out(self, study: CheckedStudy) -> Mapping[str, tuple[str, Any, list[Any]]]:
        battles = self.of_rules(study)
        keys = [key for name in (*battles.judged, *battles.filed) for key in battles.keys_of(name)]
        return {"votes": ("battles", self.files.left_out, self.files.left_out.each(keys))} if keys else {}

    def explored_blocks(self, study: CheckedStudy, section: Mapping[str, str]) -> list[Any]:
        of_section = {name: section[name] for name in ("dataset", "generator")}
        keys = [key for key in self.of_rules(study).sections if {**key, **of_section} == key]
        return self.files.explored.each(keys)

    def page_params(self, study: CheckedStudy) -> object:
        battles = self.of_rules(study)
        return battles.shown if battles.sections else None
