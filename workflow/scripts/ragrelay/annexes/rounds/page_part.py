"""The part of a study's page on search rounds."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.rounds.outputs import OUTPUTS, PARTS
from ragrelay.annexes.rounds.sentences import rounds_answer, rounds_sentences
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[RoundsShown]:
    """Return a study per dataset, generator and scorer, or none. ``params``: Rounds.page_params."""
    return RoundsShown.each(files, params)


def values(part: Sequence[RoundsShown], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables of ``rounds.html.j2``. Charts are added to those of ``page``."""
    return {"rounds": page.units("rounds", part, rounds_answer, rounds_sentences, OUTPUTS, PARTS, most_rows)}
