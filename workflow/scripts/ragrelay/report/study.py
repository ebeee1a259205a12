"""The report's data: a study's sections (dataset x generator x scorer), its grid, and its provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.study import AnnotationStudy
from ragrelay.claims.study import ClaimsStudy
from ragrelay.display.sections import Grid, Section
from ragrelay.report.questions import ShownQuestion
from ragrelay.reproduction.study import Reproduction


@dataclass(frozen=True)
class ReportedStudy:
    """All data that the page shows.

    ``explorer``: folders of the query explorer's data, parallel to the sections, or none. ``annotations``: one per
    scorer, or none. ``claims_study``: None where the configuration has no ``acu``. ``notices``: what a
    reader must know of its generators. ``reproduction``: None where it is not compared with published tables.
    ``judges``: the generators whose judgements are a scorer's scores, by scorer. ``pooled``: the answers over all
    generators and datasets (analysis.pooled); None where there is one of each. ``questions``: the tables of questions
    to a model that have no other place on the page.
    """

    name: str
    grid: Grid
    sections: tuple[Section, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[Mapping[str, Any]] = ()
    explorer: Sequence[Path] = ()
    annotations: Sequence[AnnotationStudy] = ()
    claims_study: ClaimsStudy | None = None
    notices: Sequence[str] = ()
    reproduction: Reproduction | None = None
    judges: Mapping[str, str] = field(default_factory=dict)
    pooled: pl.DataFrame | None = None
    questions: Sequence[ShownQuestion] = ()

    @property
    def groups(self) -> list[list[Section]]:
        """The sections of each generator and scorer."""
        groups: dict[tuple[str, str], list[Section]] = {}
        for section in self.sections:
            groups.setdefault((section.generator, section.scorer), []).append(section)
        return list(groups.values())
