"""Datasets of the ir_datasets catalogue."""

from pathlib import Path

from pydantic import Field

from ragrelay.collection.base import Collection
from ragrelay.collection.catalogued import IrDatasetsCollection, corpus_id, has_gold, is_catalogued
from ragrelay.collection.source import DatasetSource
from ragrelay.errors import InputError
from ragrelay.kinds import Study, Text


class IrDatasets(DatasetSource):
    """A dataset of the ir_datasets catalogue with documents, queries and qrels."""

    id: Text = Field(description="Its ir_datasets id, e.g. `msmarco-passage/trec-dl-2019/judged`.")

    def check(self, place: str, study: Study) -> None:
        """The catalogue must know it."""
        if not is_catalogued(self.id):
            raise InputError(f"{place}.id'", repr(self.id), "an id of the ir_datasets catalogue")

    def open(self, folder: Path) -> Collection:
        """As ir_datasets has it."""
        return IrDatasetsCollection(self.id)

    def corpus(self, name: str) -> str:
        """Shared by the query sets of one catalogued corpus."""
        return corpus_id(self.id).replace("/", "_")

    def catalogued(self) -> str:
        """The id."""
        return self.id

    def check_gold(self, place: str, study: Study, expected: str) -> None:
        """By the fields of its queries; nothing is downloaded."""
        if not has_gold(self.id):
            raise InputError(f"{place}.id'", f"{self.id!r} without", expected)
