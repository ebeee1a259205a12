"""The search-rounds section of a study's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.rounds.outputs import OUTPUTS, PARTS
from ragrelay.annexes.rounds.sentences import rounds_answer, rounds_sentences
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[RoundsShown]:
    """Return the rounds' data for each section of the page. ``params``: the value of rules.Rounds.shown."""
    return RoundsShown.each(files, params)


def values(part: Sequence[RoundsShown], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``rounds.html.j2``, and add the charts about search rounds to ``page``."""
    return {"rounds": page.units("rounds", part, rounds_answer, rounds_sentences, OUTPUTS, PARTS, most_rows)}
