"""The data in a study's report: sections, grid, provenance, and the annexes' parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.report.display.sections import Grid, Section
from ragrelay.report.missing import missing_answers
from ragrelay.report.questions import ShownQuestion


@dataclass(frozen=True)
class AnnexPart:
    """A part that an annex adds to the page (base.annex.Annex)."""

    part: Any
    """The value that ``read`` in the annex's module ``page_part`` returned."""
    module: str
    """The module's name."""
    template: str
    link: tuple[str, str]
    """The anchor and title of the part's link in the page's header."""


@dataclass(frozen=True)
class ReportedStudy:
    """All data from which the page and the report's files are created."""

    name: str
    grid: Grid
    sections: tuple[Section, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[Mapping[str, Any]] = ()
    explorer: Sequence[Path] = ()
    """Folders of the query explorer's data, parallel to the sections, or none."""
    notices: Sequence[str] = ()
    """Facts about the study's generators that readers must know."""
    doubts: Sequence[str] = ()
    """Reasons to doubt the study's data, such as a run that lacks queries."""
    parts: Sequence[AnnexPart] = ()
    """The annexes' parts, in the order of the page."""
    judges: Mapping[str, str] = field(default_factory=dict)
    """The judges behind each scorer's scores, keyed by scorer."""
    pooled: pl.DataFrame | None = None
    """The answers over all generators and datasets (analysis.pooled); None if there is only one of each."""
    prompts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The parts of each generator's prompt template."""
    questions: Sequence[ShownQuestion] = ()
    """Tables for model questions that the page doesn't show elsewhere."""

    @property
    def missing(self) -> list[str]:
        """Return warnings for the top of the page if many answers are missing."""
        lengths = {(section.dataset, section.generator): section["lengths"] for section in self.sections}
        return missing_answers(lengths.values(), self.left_out)

    @property
    def groups(self) -> list[list[Section]]:
        """Return the sections, grouped by generator and scorer."""
        groups: dict[tuple[str, str], list[Section]] = {}
        for section in self.sections:
            groups.setdefault((section.generator, section.scorer), []).append(section)
        return list(groups.values())
