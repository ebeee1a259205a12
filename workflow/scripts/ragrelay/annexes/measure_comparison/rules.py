"""Provide data for the rules that compare measures."""

import functools

from ragrelay.annexes.measure_comparison.outputs import RESULT_TABLES
from ragrelay.annexes.measure_comparison.settings import ComparisonSettings
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.base.vocabulary.subtopic_measures import is_subtopic_measure
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key

NAMES = ("dataset", "generator", "scorer")


class MeasureComparison:
    """A study's data for the rules that compare measures."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.settings: ComparisonSettings | None = study.settings.compare_measures

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each dataset, generator and scorer; empty without the config key ``compare_measures``."""
        sections = self.study.sections if self.settings else []
        return [{name: section[name] for name in NAMES} for section in sections]  # type: ignore[literal-required]

    def parts(self, scorer: str) -> list[StudyFile]:
        """Return a panel's tables of measure pairs, each computed without one judge; empty for other scorers."""
        return [RESULT_TABLES[1].file.at(scorer=part) for part in self.study.scoring.parts.get(scorer, ())]

    @functools.cached_property
    def shown(self) -> dict[str, object] | None:
        """Values for the page: the measure chosen in advance, primary cells, nugget scorers and subtopic measures."""
        if not self.settings:
            return None
        cells = {}
        for section in self.study.sections:
            first = section["primary"] or {**self.study.contexts[-1], "references": section["references"][0]}
            cells[f"{section['dataset']} {section['scorer']}"] = {
                name: first[name] for name in ("ordering", "k", "references")
            }
        nuggets = [name for name in self.study.grid.scorers if self.study.config["scorers"][name]["kind"] == "nuggets"]
        subtopics = [name for name in self.study.grid.measures if is_subtopic_measure(name)]
        return {"declared": self.settings.declared, "cells": cells, "nuggets": nuggets, "subtopics": subtopics}


@functools.cache
def of_study(study: StudyOfRules) -> MeasureComparison:
    """Return ``study``'s data for the rules that compare measures."""
    return MeasureComparison(study)
