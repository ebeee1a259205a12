"""Read datasets from a local folder."""

from pathlib import Path

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import File
from ragrelay.collection.base import Collection
from ragrelay.collection.local import PASSAGES, LocalCollection
from ragrelay.collection.source import DatasetSource

NEEDED = (PASSAGES, ("queries.tsv",), ("qrels.txt",))


class Local(DatasetSource):
    """A folder with `passages.jsonl` (optionally compressed), `queries.tsv`, `qrels.txt` and, if there are gold
    answers, `answers.jsonl`.
    """

    path: File = Field(description="Path of the dataset's folder.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the folder and its files exist."""
        super().check(place, study)
        folder = study.folder / self.path
        expected = "a folder with passages.jsonl, queries.tsv and qrels.txt"
        if not folder.is_dir():
            raise InputError(f"{place}.path'", f"no folder {folder}", expected)
        for alternatives in NEEDED:
            if not any((folder / file).is_file() for file in alternatives):
                raise InputError(f"{place}.path'", f"no file {folder / alternatives[0]}", expected)
        several = [file for file in PASSAGES if (folder / file).is_file()]
        if len(several) > 1:
            raise InputError(f"{place}.path'", f"both {' and '.join(several)} in {folder}", "only one of these files")

    def open(self, folder: Path) -> Collection:
        """Open the collection in the folder."""
        return LocalCollection(folder / self.path)

    def files(self, folder: Path) -> list[Path]:
        """Return the dataset's existing files in the folder, passages first."""
        return LocalCollection(folder / self.path).files()

    def check_gold(self, place: str, study: CheckedStudy, expected: str) -> None:
        """Check that the folder contains gold answers."""
        if not (study.folder / self.path / "answers.jsonl").is_file():
            raise InputError(f"{place}.path'", f"no answers.jsonl in {self.path}", expected)
