"""Hold the predictions for a dataset, generator and scorer, for reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragrelay.annexes.prediction.outputs import RESULT_TABLES
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import STUDY_PART, read_table
from ragrelay.report.display.outputs import resolve


@dataclass(frozen=True)
class PredictedStudy:
    """Predictions: ``tables`` by name; ``rankings``: the retrievers that do not draw from the judgements."""

    keys: Mapping[str, str]
    tables: Mapping[str, pl.DataFrame]
    rankings: Sequence[str]

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def title(self) -> str:
        return " · ".join(self.keys[name] for name in STUDY_PART)

    @property
    def references(self) -> str | None:
        """The reference set that is shown first."""
        sets = self["prediction_best"]["references"]
        return sets[0] if len(sets) else None

    @property
    def k(self) -> int | None:
        """The k that is shown first, the largest."""
        largest: Any = self["prediction_best"]["k"].max()
        return largest


def read_predicted(
    files: Mapping[str, KeyedFiles], section: Mapping[str, str], rankings: Sequence[str]
) -> PredictedStudy:
    """Return the tables of one section (dataset, generator, scorer) from the files of all."""
    tables = {table.name: read_table(files[table.name].of(section), resolve(table.columns)) for table in RESULT_TABLES}
    return PredictedStudy({name: section[name] for name in STUDY_PART}, tables, rankings)
