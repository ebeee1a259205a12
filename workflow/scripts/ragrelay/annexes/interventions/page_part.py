"""Make the part of a study's page on interventions."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.interventions.outputs import OUTPUTS, PARTS
from ragrelay.annexes.interventions.sentences import effect_answer, effect_sentences
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[EffectStudy]:
    """Return a study per dataset, generator and scorer, or none. ``params``: Interventions.page_params."""
    return EffectStudy.each(files, params)


def values(part: Sequence[EffectStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables of ``interventions.html.j2``. Charts are added to those of ``page``."""
    return {
        "interventions": page.units("interventions", part, effect_answer, effect_sentences, OUTPUTS, PARTS, most_rows)
    }
