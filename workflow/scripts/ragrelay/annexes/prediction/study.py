"""Read a section's prediction tables for the report."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.annexes.prediction.outputs import RESULT_TABLES
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import STUDY_PART, read_table
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.shown_tables import ShownTables


class PredictedStudy(ShownTables):
    """A section's prediction tables; ``params`` lists the retrievers that don't use the judgements."""

    @property
    def rankings(self) -> Sequence[str]:
        """The retrievers that don't use the judgements."""
        rankings: Sequence[str] = self.params
        return rankings

    @property
    def references(self) -> str | None:
        """The reference set shown first, or None if there are no results."""
        sets = self["prediction_best"]["references"]
        return sets[0] if len(sets) else None

    @property
    def k(self) -> int | None:
        """The largest k, which is shown first."""
        largest: Any = self["prediction_best"]["k"].max()
        return largest


def read_predicted(
    files: Mapping[str, KeyedFiles], section: Mapping[str, str], rankings: Sequence[str]
) -> PredictedStudy:
    """Read the tables of one section (dataset, generator, scorer). ``files``: all sections' files, keyed by table."""
    tables = {table.name: read_table(files[table.name].of(section), resolve(table.columns)) for table in RESULT_TABLES}
    return PredictedStudy({name: section[name] for name in STUDY_PART}, tables, rankings)
