"""Read datasets from the ir_datasets catalogue."""

from pathlib import Path

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Text
from ragrelay.collection.base import Collection
from ragrelay.collection.catalogued import IrDatasetsCollection, corpus_id, has_gold, is_catalogued
from ragrelay.collection.source import DatasetSource


class IrDatasets(DatasetSource):
    """A dataset in the ir_datasets catalogue that has documents, queries and qrels."""

    id: Text = Field(description="The dataset's id in ir_datasets, e.g. `msmarco-passage/trec-dl-2019/judged`.")
    answers: Text | None = Field(
        None,
        description="File with gold answers, for datasets without gold answers in the catalogue: JSON Lines such as "
        '`{"qid": "q1", "answers": ["leaves", "tea leaves"]}`.',
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the dataset is in the catalogue, and that an answers file, if set, exists and is needed."""
        super().check(place, study)
        if not is_catalogued(self.id):
            raise InputError(f"{place}.id'", repr(self.id), "an id in the ir_datasets catalogue")
        if self.answers is None:
            return
        if has_gold(self.id):
            raise InputError(f"{place}.answers'", f"a file, although {self.id} has gold answers", "no value")
        if not (study.folder / self.answers).is_file():
            raise InputError(f"{place}.answers'", f"no file {study.folder / self.answers}", "a file of gold answers")

    def open(self, folder: Path) -> Collection:
        """Open the dataset with ir_datasets."""
        return IrDatasetsCollection(self.id, None if self.answers is None else folder / self.answers)

    def files(self, folder: Path) -> list[Path]:
        """Return the file with gold answers, if any."""
        return [] if self.answers is None else [folder / self.answers]

    def corpus(self, name: str) -> str:
        """Return a name that all query sets with the same corpus share."""
        return corpus_id(self.id).replace("/", "_")

    def catalogued(self) -> str:
        """Return the dataset's id in the ir_datasets catalogue."""
        return self.id

    def check_gold(self, place: str, study: CheckedStudy, expected: str) -> None:
        """Check that the queries have gold answers or that there is an answers file, without downloading anything."""
        if self.answers is None and not has_gold(self.id):
            raise InputError(f"{place}.id'", f"{self.id!r}, which has no gold answers", expected)
