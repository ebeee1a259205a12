"""Read labels that people or another judge assigned."""

from pathlib import Path

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.file_labels import read_labels
from ragrelay.annexes.labels.source import BY_FILE, Graded, SourceData
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import DatasetFile, file_of


class File(Graded):
    """Labels that people or another judge assigned, read from a file. If the file contains a query, the query's
    unlabelled passages have label 0. Queries that aren't in the file have no labels.
    """

    judge = True

    path: DatasetFile = Field(
        description="Path of a file (`{dataset}` stands for the dataset's name) with judgements in TREC format (qid, "
        "iteration, docno, label), or of a Parquet file (`.parquet`) with columns `qid`, `docno` and `label`."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that each dataset in the grid has a readable file."""
        super().check(place, study)
        for dataset in study.grid.datasets:
            read_labels(study.folder / self.file(dataset))

    def file(self, dataset: str) -> str:
        return file_of(self.path, dataset)

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """Return the job that reads the file."""
        return BY_FILE, {"source": name}

    def highest(self, data: SourceData) -> float:
        """Return the highest label in the file, or 1 if all labels are lower."""
        return max(1.0, float(data.table["label"].max() or 1))  # type: ignore[arg-type]

    def known_pairs(self, qrels: pl.DataFrame, made: str | Path | None) -> pl.DataFrame | None:
        """Return the query-passage pairs with a label in the file."""
        return None if made is None else pl.read_parquet(made, columns=["qid", "docno"])

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label all passages of the queries in the file; missing and negative labels become 0."""
        known = data.passages.join(data.table.select("qid").unique(), on="qid", how="semi", maintain_order="left")
        labelled = known.join(data.table, on=["qid", "docno"], how="left", maintain_order="left")
        return data.everywhere(labelled.with_columns(pl.col("label").fill_null(0).clip(lower_bound=0)))
