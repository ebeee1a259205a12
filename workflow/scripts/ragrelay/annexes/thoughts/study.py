"""Hold what the report shows about the thoughts of a generator on a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.multiplicity import distinct
from ragrelay.annexes.thoughts.lengths import COLUMNS, DIFFERENCE_COLUMNS
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.thought_marks import CUT, ENDED, UNFINISHED
from ragrelay.report.display.palette import Look, looks
from ragrelay.report.display.sections import Grid

CENSORED = pl.col(CUT) + pl.col(UNFINISHED)
"""Of rows of thoughts.csv, or of their sums: thoughts that may have been longer than counted."""
THOUGHTS = pl.col(ENDED) + CENSORED
"""All thoughts."""
CENSORED_SHARE = pl.when(THOUGHTS > 0).then(CENSORED / THOUGHTS)
TABLES = {"thoughts": COLUMNS, "thought_differences": DIFFERENCE_COLUMNS}
"""Columns by the name of the result table."""


@dataclass(frozen=True)
class ThoughtStudy:
    """The thoughts of one generator on one dataset; ``tables`` by name of TABLES."""

    keys: Mapping[str, str]
    tables: Mapping[str, pl.DataFrame]
    grid: Grid
    primary: Mapping[str, Any] | None = None
    """The primary comparison (config.study.Study.primary); None with one retriever."""

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def title(self) -> str:
        return f"{self.keys['dataset']} · {self.keys['generator']}"

    @property
    def lead(self) -> dict[str, Any]:
        """Return ordering and k of the first answers: the primary comparison's."""
        if self.primary is None:
            ordering = self.grid.orderings[0]
            return {"ordering": ordering, "k": max(k for name, k in self.grid.contexts if name == ordering)}
        return {name: self.primary[name] for name in ("ordering", "k")}

    @property
    def against(self) -> list[str]:
        """Return what cells are compared with: the primary pair's reference, if any, then thoughts without context."""
        return [*([self.primary["reference"]] if self.primary else []), ZEROSHOT]

    @property
    def looks(self) -> dict[str, Look]:
        """Return each retriever's look, as in the other figures of the dataset."""
        pair = (self.primary["reference"], self.primary["retriever"]) if self.primary else ()
        by_name = looks(list(dict.fromkeys([*pair, *self.grid.retrievers])))
        return {name: by_name[name] for name in self.grid.retrievers}

    @property
    def counts(self) -> pl.DataFrame:
        """Return the rows of thoughts.csv that have prompts of their own: all orderings of one passage are alike."""
        return distinct(self["thoughts"], ("retriever", "ordering"))

    def censored(self, rows: pl.DataFrame) -> float | None:
        """Return the share of the thoughts in ``rows`` of thoughts.csv that were cut or did not end."""
        sums = rows.select(pl.col(ENDED, CUT, UNFINISHED).sum())
        return sums.select(CENSORED_SHARE).item()


def read_thoughts(files: Mapping[str, KeyedFiles], given: Mapping[str, Any] | None) -> list[ThoughtStudy]:
    """Read the study of every dataset and generator among the ``files`` of TABLES, in their order.

    ``given``: the grid, and the primary comparison by dataset (annexes.thoughts.rules); None if no generator thinks.
    """
    if given is None:
        return []
    grid = Grid.of(given["grid"])
    return [
        read_study({name: files[name].of(keys) for name in TABLES}, keys, grid, given["primary"][keys["dataset"]])
        for keys, _ in files["thoughts"].keyed
    ]


def read_study(
    paths: Mapping[str, str | Path], keys: Mapping[str, str], grid: Grid, primary: Mapping[str, Any] | None
) -> ThoughtStudy:
    """Read the study of one dataset and generator from the files of TABLES."""
    tables = {name: read_table(paths[name], columns) for name, columns in TABLES.items()}
    return ThoughtStudy(keys, tables, grid, primary)
