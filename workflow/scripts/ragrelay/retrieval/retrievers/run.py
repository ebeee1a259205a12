"""Read other systems' rankings from run files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, file_of
from ragrelay.retrieval.retriever import Bringing, RunTask
from ragrelay.retrieval.trec import check_columns, check_falling, rank_number


class Run(Bringing):
    """A TREC run read from a file."""

    path: DatasetFile = Field(
        description="The run file, plain or compressed (`.gz`, `.bz2`, `.xz`, `.zst`). `{dataset}` in the path is "
        "replaced with the dataset's name."
    )
    ranked_by: Literal["scores", "ranks", "distances"] | None = Field(
        None,
        description="How to sort a query's results: by `scores`, highest first; by `ranks`; or by `distances` in the "
        "score column, lowest first. Without this key, results are sorted by score, and ragrelay rejects a file in "
        "which most queries' scores rise with the rank, or in which the rank and score columns look swapped.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset in the grid has a file."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            for path in self.files(dataset):
                if not (study.folder / path).is_file():
                    raise InputError(place + ".path'", f"no file {study.folder / path}", "a TREC run")

    def files(self, dataset: str) -> list[str]:
        """Return the dataset's run file."""
        return [file_of(self.path, dataset)]

    def scored(self, ranks: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
        """Return the rows with the scores to rank by: the file's scores, negated ranks or negated distances.

        Raises InputError if `ranked_by` isn't set and most queries' scores rise with the rank or look like ranks, or if
        `ranked_by` is `ranks` and a rank isn't a whole number or is repeated.
        """
        if self.ranked_by == "distances":
            return ranks.with_columns(score=0.0 - pl.col("score"))
        if self.ranked_by == "ranks":
            numbers = ranks.with_columns(score=0.0 - rank_number())
            same = pl.struct("qid", "score").is_duplicated()
            wrong = numbers.filter(same | pl.col("score").is_null() | (pl.col("score").floor() != pl.col("score")))
            if wrong.height:
                qid, docno, given = wrong.select("qid", "docno", "given").row(0)
                found = f"rank {given!r} of docno {docno!r} for qid {qid!r}"
                raise InputError(place, found, "whole numbers, unique within a query, because ranked_by is ranks")
            return numbers
        if self.ranked_by is None:
            key = f"config key 'retrievers.{name}.ranked_by'"
            meant = f"{key} set to distances, ranks or scores"
            check_columns(ranks, place, f"qid, Q0, docno, rank, score, tag in this order, or {meant}")
            check_falling(ranks, place, meant)
        return ranks

    def run(self, task: RunTask) -> pl.DataFrame:
        """Read the run from the file."""
        return task.runs[0]

    def no_result(self, place: str, runs: Sequence[Path]) -> InputError:
        """Return an error that names the run file instead of the retriever's kind."""
        return super().no_result(str(runs[0]), runs)
