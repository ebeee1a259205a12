"""The battles section of a study's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.battles.outputs import OUTPUTS, PARTS
from ragrelay.annexes.battles.sentences import battle_answer, battle_sentences, battle_warnings
from ragrelay.annexes.battles.study import BattleShown
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: Any) -> list[BattleShown]:
    """Return the battle data for the page's sections. ``params``: the value of rules.Battles.shown."""
    return BattleShown.each(files, params)


def values(part: Sequence[BattleShown], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``battles.html.j2``."""
    return {"battles": page.units("battles", part, battle_answer, battle_sentences, OUTPUTS, PARTS, most_rows)}


def warnings(part: Sequence[BattleShown]) -> list[str]:
    """Warn about judges whose votes depend on the order in which the answers are shown."""
    return [warning for study in part for warning in battle_warnings(study)]
