"""Label passages by whether they come from the gold pages that a file in KILT's format lists."""

from typing import Any

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import BY_PAGES, AnnotationSource, SourceData
from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, file_of


class Provenance(AnnotationSource):
    """Labels a passage 1 if it comes from a page that a file lists as provenance for the query's answer, otherwise 0
    (KILT, Petroni et al., NAACL 2021). Passages need titles, from a catalogued corpus or from `title` in
    `passages.jsonl`.
    """

    path: DatasetFile = Field(
        description="Path of the file; `{dataset}` stands for the dataset's name. The file contains JSON lines in "
        "KILT's format (id, input, output with provenance and title). A record belongs to the query with the same id "
        "or, if there is none, to the query with the same text."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that each dataset in the grid has a file."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            path = study.folder / self.file(dataset)
            if not path.is_file():
                raise InputError(f"{place}.path'", f"no file {path}", "a JSON Lines file in KILT's format")

    def file(self, dataset: str) -> str:
        return file_of(self.path, dataset)

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, Any]]:
        """Return the job that labels passages by their page."""
        return BY_PAGES, {"source": name}

    def labels(self, data: SourceData) -> pl.DataFrame:
        return data.own_sets()
