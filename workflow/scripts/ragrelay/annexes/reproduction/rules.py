"""Provide inputs and outputs for the rules that compare a study with published tables (config key `published`)."""

import functools
import os
from collections.abc import Sequence
from typing import Any

from ragrelay.annexes.acu.rules import of_study as claims_of
from ragrelay.annexes.labels.rules import of_study as labels_of
from ragrelay.annexes.reproduction.annex import Reproduction
from ragrelay.annexes.reproduction.checks import common_rows
from ragrelay.annexes.reproduction.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.reproduction.published import LAYOUTS
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study import files
from ragrelay.execution.study.reported import Reported
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.report.display.outputs import available

PAPERS = os.path.relpath(ROOT / "resources/published/rows.csv")
"""The file that lists the papers' tables and figures."""
OF_CLAIMS = ("reproduced_claims", "reproduced_rows")
"""Comparisons that a claims page can show even without a grid."""


@functools.cache
def reproduced(study: CheckedStudy) -> dict[str, StudyFile]:
    """Return the tables that compare ``study`` with published tables, keyed by name."""
    present = Reproduction().present(study)
    known = [table.name for table in RESULT_TABLES if present[table.only_with]]
    return {name: files.tables[name] for output in available(OUTPUTS, known) for name in output.needs}


def reproduced_claims(study: CheckedStudy) -> dict[str, StudyFile]:
    """Return the comparisons on the claims page, or an empty mapping if no published values concern claims."""
    tables = reproduced(study)
    return {name: tables[name] for name in OF_CLAIMS if OF_CLAIMS[0] in tables}


class Published:
    """Inputs and outputs for the rules that compare a study with published tables."""

    def __init__(self, study: StudyOfRules, reported: Reported) -> None:
        self.study, self.reported = study, reported
        self.given: dict[str, Any] = study.config.get("published") or {}

    def file(self, layout: str) -> str | list[str]:
        """Return the path of the published table for a layout, or an empty list if there is no such table."""
        return self.given.get(layout) or []

    @functools.cached_property
    def files(self) -> list[str]:
        """The paths of all published tables in the configuration."""
        return [self.given[layout] for layout in LAYOUTS if layout in self.given]

    @functools.cached_property
    def compared(self) -> dict[str, tuple[str, str, object]]:
        """Rule name, rule docstring and our tables, keyed by the published table's layout (except utility)."""
        labels = labels_of(self.study)
        correlation = files.tables["label_correlation"].each(self.study.sections if labels.names else [])
        return {
            "labels": (
                "compare_published_labels", "Compare the correlations of labels and P with published ones.", correlation
            ),
            "label_cost": (
                "compare_published_cost", "Compare the cost of the study's labels with published figures.",
                files.tables["label_cost"].each(labels.costed),
            ),
            "claims": (
                "compare_published_claims", "Compare mean ACU by stance with published figures.",
                files.made_by("analyse_acu")["acu_usage"],
            ),
        }  # fmt: skip

    @functools.cached_property
    def latex(self) -> list[str]:
        """The LaTeX files with the comparison."""
        return self.reported.paths(OUTPUTS, [{}])

    def results(self, report: Sequence[str]) -> list[str]:
        """Return the comparison's files and, because the report shows the comparison, the files in ``report``.

        If the published tables and the study have no row in common, the run ends with a one-line message.
        """
        with on_terminal():
            common_rows(self.study)
        of_grid = [name for name in reproduced(self.study) if name not in OF_CLAIMS]
        of_claims = claims_of(self.study).results(self.reported) if "claims" in self.given else []
        shown = self.reported.paths(self.reported.outputs("reproduction"), [{}])
        return [*(report if of_grid else []), *of_claims, *shown]
