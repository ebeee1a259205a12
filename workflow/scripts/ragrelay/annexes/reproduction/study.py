"""A study's comparison with published tables, as shown in the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.reproduction.cells import COLUMNS as CELLS
from ragrelay.annexes.reproduction.claims import CLAIMS
from ragrelay.annexes.reproduction.findings import COLUMNS as FINDINGS
from ragrelay.annexes.reproduction.labels import COST, LABELS
from ragrelay.annexes.reproduction.measures import EFFECTS, SUMMARY
from ragrelay.annexes.reproduction.rows import ROWS
from ragrelay.base.vocabulary.columns import read_rows

TABLES = {
    "reproduced_cells": CELLS, "reproduced_summary": SUMMARY, "reproduced_effects": EFFECTS,
    "reproduced_findings": FINDINGS, "reproduced_labels": LABELS, "reproduced_label_cost": COST,
    "reproduced_claims": CLAIMS, "reproduced_rows": ROWS,
}  # fmt: skip
"""Each result table's columns, by the table's name."""


@dataclass(frozen=True)
class Reproduction:
    """A study's comparison with published tables. ``tables`` contains the result tables, keyed by name."""

    tables: Mapping[str, pl.DataFrame]

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def keys(self) -> dict[str, str]:
        """The wildcards of the comparison's files; empty because a study has only one comparison."""
        return {}


def read_reproduction(files: Mapping[str, Any]) -> Reproduction | None:
    """Read the tables of the comparison from ``files``, or return None if there are none."""
    paths = dict(files.items())
    tables: dict[str, str | Path] = {name: paths[name] for name in TABLES if name in paths}
    return Reproduction({name: read_rows([path], TABLES[name]) for name, path in tables.items()}) if tables else None
