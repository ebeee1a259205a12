"""Read rankings from files of imported answers."""

from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Text
from ragrelay.base.vocabulary.orderings import DESCENDING
from ragrelay.collection.answer_formats.file_patterns import answer_files, check_pattern
from ragrelay.retrieval.retriever import Retriever, RunTask


class Answers(Retriever):
    """The lists of passages that come with imported answers, used as rankings
    ([bring-your-own-answers.md](../docs/bring-your-own-answers.md)).
    """

    searches_every_query: ClassVar[bool] = False

    path: Text = Field(
        description="Files with the answers, as for a generator with `engine: file`. Answers that name another "
        "retriever are ignored."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset in the grid has a file."""
        check_pattern(f"{place}.path'", self.path)
        for dataset in study.grid.datasets:
            if not answer_files(self.path, dataset, study.folder):
                raise InputError(f"{place}.path'", f"no file {self.path}", "a file of answers")

    def answers(self, dataset: str) -> list[tuple[Path, dict[str, Any]]]:
        """Return the answer files that match the path pattern."""
        return [(file.path, file.values) for file in answer_files(self.path, dataset)]

    def run(self, task: RunTask) -> pl.DataFrame:
        """For each query, return the longest passage list from answers whose ordering is `descending` or not given."""
        from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
        from ragrelay.collection.answer_formats.file_patterns import AnswerFile

        rows = read_answer_rows(AnswerFile(*file) for file in task.answers)
        own = rows.filter(
            pl.col("retriever").fill_null(task.name) == task.name,
            pl.col("ordering").fill_null(DESCENDING) == DESCENDING,
            pl.col("docnos").list.len() > 0,
        )
        longest = own.with_row_index("row").sort(
            "qid", pl.col("docnos").list.len(), "row", descending=[False, True, False]
        )
        lists = longest.unique("qid", keep="first", maintain_order=True).select("qid", "docnos")
        ranks = lists.with_columns(score=pl.int_ranges(pl.col("docnos").list.len(), 0, -1).cast(pl.List(pl.Float64)))
        return ranks.rename({"docnos": "docno"}).explode("docno", "score").select("qid", "docno", "score")
