"""Read files with votes from people or another program."""

from pydantic import Field

from ragrelay.annexes.battles.battle import Fought
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, file_of


class File(Fought):
    """Votes from people or a program, read from a file with one row per vote. Pairs without a vote are left out."""

    path: DatasetFile = Field(
        description="The file (`{dataset}` stands for the dataset's name): CSV, TSV, JSON or Parquet with `qid`, "
        "`first` and `second` (the retrievers, in the order in which their answers were shown) and `vote` (`first`, "
        "`second`, `tie`, or the better retriever's name), and optionally `ordering`, `k`, `generator`, `seed`, "
        "`assessor`, `first_answer` and `second_answer`. If the last two differ from the study's answers, the vote is "
        "left out."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that every dataset in the grid has a readable file."""
        super().check(place, study)
        from ragrelay.annexes.battles.vote_files import read_vote_rows

        for dataset in study.grid.datasets:
            read_vote_rows(study.folder / self.file(dataset))

    def file(self, dataset: str) -> str:
        """Return the path of a dataset's vote file."""
        return file_of(self.path, dataset)
