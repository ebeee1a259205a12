"""The thoughts section of a study's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.thoughts.outputs import OUTPUTS, PARTS
from ragrelay.annexes.thoughts.sentences import thought_answer, thought_sentences, thought_warnings
from ragrelay.annexes.thoughts.study import ThoughtStudy
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[ThoughtStudy]:
    """Return the tables about thoughts for each dataset and reasoning generator. ``params``: from Thoughts.drawn."""
    return ThoughtStudy.each(files, params)


def values(part: Sequence[ThoughtStudy], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``thoughts.html.j2``, and add the charts about thoughts to ``page``."""
    return {"thoughts": page.units("thoughts", part, thought_answer, thought_sentences, OUTPUTS, PARTS, most_rows)}


def warnings(part: Sequence[ThoughtStudy]) -> list[str]:
    """Warn about each generator with many thoughts that were cut or didn't end."""
    return [warning for study in part for warning in thought_warnings(study)]
