"""The section of a study's page that compares retrieval measures."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.measure_comparison.outputs import OUTPUTS, PARTS
from ragrelay.annexes.measure_comparison.sentences import heading, measure_sentences, measures_answer
from ragrelay.annexes.measure_comparison.study import MeasuresShown
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.report.display.page import Page


def read(files: Mapping[str, KeyedFiles], inputs: object, params: object) -> list[MeasuresShown]:
    """Return the comparison of measures for each section. ``params``: the value of MeasureComparison.shown."""
    return MeasuresShown.each(files, params)


def values(part: Sequence[MeasuresShown], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variables for the template ``measures.html.j2``, and add the charts about measures to ``page``."""
    units = page.units("measures", part, measures_answer, measure_sentences, OUTPUTS, PARTS, most_rows)
    return {"measures": units, "measures_heading": heading([unit["answer"] for unit in units])}
