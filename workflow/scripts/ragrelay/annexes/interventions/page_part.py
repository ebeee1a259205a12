"""The interventions section of a study's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.interventions.outputs import OUTPUTS, PARTS
from ragrelay.annexes.interventions.sentences import effect_answer, effect_sentences
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[EffectStudy]:
    """Return the effects for each section of the page. ``params``: each intervention's settings."""
    return EffectStudy.each(files, params)


def values(part: Sequence[EffectStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``interventions.html.j2``, and add the charts to ``page``."""
    return {
        "interventions": page.units("interventions", part, effect_answer, effect_sentences, OUTPUTS, PARTS, most_rows)
    }
