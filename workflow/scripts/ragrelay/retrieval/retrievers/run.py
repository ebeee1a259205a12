"""Read rankings of other systems from run files."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from pydantic import Field

from ragrelay.errors import InputError
from ragrelay.kinds import CheckedStudy
from ragrelay.retrieval.retriever import Retriever, RunTask
from ragrelay.settings import DatasetFile, file_of


class Run(Retriever):
    """A TREC run from a file."""

    path: DatasetFile = Field(description="The run file, plain or .gz; `{dataset}` is replaced by the dataset's name.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset of the grid has a file."""
        for dataset in study.grid.datasets:
            for path in self.files(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".path'", f"no file {study.folder / path}", "a TREC run")

    def files(self, dataset: str) -> list[str]:
        """Return the dataset's run file."""
        return [file_of(self.path, dataset)]

    def run(self, task: RunTask) -> pl.DataFrame:
        """Read the run from the file."""
        return task.runs[0]

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Name the run file in the error, in place of the retriever's kind."""
        return super().no_result(str(runs[0]), runs)
