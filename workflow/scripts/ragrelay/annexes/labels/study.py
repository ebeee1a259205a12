"""Read the report's data on annotation sources, for one scorer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.judge_checks import PASSAGE_COLUMNS as CHECKS
from ragrelay.annexes.labels.agreement import COLUMNS as AGREEMENT
from ragrelay.annexes.labels.agreement import CONFUSION_COLUMNS
from ragrelay.annexes.labels.choices import CHOICES_COLUMNS
from ragrelay.annexes.labels.cost import COLUMNS as COST
from ragrelay.annexes.labels.powered import COLUMNS as POWERED
from ragrelay.annexes.labels.study_tables import LEADS_COLUMNS, TABLE_COLUMNS
from ragrelay.annexes.labels.within_queries import COLUMNS as WITHIN
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_rows, schema_of

File = str | Path
TABLES = {
    "annotations": TABLE_COLUMNS,
    "annotation_leads": LEADS_COLUMNS,
    "annotation_within": WITHIN,
    "annotation_choices": CHOICES_COLUMNS,
    "annotation_agreement": AGREEMENT,
    "annotation_confusion": CONFUSION_COLUMNS,
    "annotation_powered": POWERED,
}
"""Columns of the tables, keyed by the table's name in the report."""


@dataclass(frozen=True)
class JudgeTrust:
    """Settings for the page's statements on trust in judges."""

    least_kappa: float = 0.0
    """Minimum kappa with human labels; the page warns about judges with a lower kappa."""
    random_sample: bool = False
    """Whether the configuration states that the queries with human labels are a random sample."""
    own: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The grid's generators that judge passages for their own answers, keyed by source."""


@dataclass(frozen=True)
class AnnotationStudy:
    """The report's data on annotation sources, for one scorer.

    ``cost`` and ``checks`` don't depend on the scorer, so only the first scorer's instance contains them.
    """

    scorer: str
    tables: Mapping[str, pl.DataFrame]
    """The report's tables, keyed by name, as returned by study_tables.gather."""
    cost: pl.DataFrame
    """The cost of labels: columns cost.COLUMNS."""
    trust: JudgeTrust = JudgeTrust()
    checks: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=schema_of(CHECKS)))

    @property
    def table(self) -> pl.DataFrame:
        return self.tables["annotations"]

    def rows(self, gathered: str) -> pl.DataFrame:
        """Return the report table that corresponds to the result table ``gathered``."""
        return self.tables.get(gathered.replace("label", "annotation"), self.table)

    @property
    def keys(self) -> dict[str, str]:
        return {"scorer": self.scorer}

    @property
    def sources(self) -> list[str]:
        return self.table["source"].unique(maintain_order=True).to_list()

    @property
    def first(self) -> dict[str, Any]:
        """The page's initial selection: the largest k, the first reference set, utility and Kendall's tau."""
        k, references = self.table["k"].max(), self.table["references"][0]
        return {"k": k, "references": references, "quantity": "utility", "coefficient": "kendall"}


def read_annotations(
    tables: Mapping[str, KeyedFiles],
    costs: Sequence[File],
    trust: Mapping[str, Any] | None = None,
    checks: Sequence[File] = (),
) -> list[AnnotationStudy]:
    """Read each scorer's tables (keyed as in TABLES), the cost of labels, and the judges' bias checks.

    ``trust``: the values for JudgeTrust, keyed by field.
    """
    shared = [read_rows(costs, COST), read_rows(checks, CHECKS)]
    by_scorer: dict[str, dict[str, pl.DataFrame]] = {}
    for name, columns in TABLES.items():
        for scorer, path in tables[name].by("scorer").items():
            by_scorer.setdefault(scorer, {})[name] = read_rows([path], columns)
    known = [(scorer, read) for scorer, read in by_scorer.items() if read["annotations"].height]
    return [
        AnnotationStudy(scorer, read, cost, JudgeTrust(**(trust or {})), of_judges)
        for place, (scorer, read) in enumerate(known)
        for cost, of_judges in [[table.clear() for table in shared] if place else shared]
    ]
