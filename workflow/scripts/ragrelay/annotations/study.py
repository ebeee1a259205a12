"""What a report shows of one scorer's annotation sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.cost import COLUMNS as COST
from ragrelay.annotations.study_tables import TABLE_COLUMNS
from ragrelay.vocabulary.columns import schema_of

File = str | Path


@dataclass(frozen=True)
class AnnotationStudy:
    """``tables``: ``annotations`` (TABLE_COLUMNS), and ``annotation_leads`` where a file of it is to be written.

    ``cost``: columns cost.COLUMNS; of the first scorer alone, since it is of answers.
    """

    scorer: str
    tables: Mapping[str, pl.DataFrame]
    cost: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        return self.tables["annotations"]

    @property
    def keys(self) -> dict[str, str]:
        return {"scorer": self.scorer}

    @property
    def sources(self) -> list[str]:
        return self.table["source"].unique(maintain_order=True).to_list()

    @property
    def first(self) -> dict[str, Any]:
        """What is shown first: the largest k, the first reference set, P, Kendall's tau."""
        k, references = self.table["k"].max(), self.table["references"][0]
        return {"k": k, "references": references, "quantity": "p", "coefficient": "kendall"}


def annotation_rows(shown: AnnotationStudy) -> pl.DataFrame:
    """study_tables.TABLE_COLUMNS, as it is written."""
    return shown.table


def lead_rows(shown: AnnotationStudy) -> pl.DataFrame:
    """study_tables.LEADS_COLUMNS, as it is written."""
    return shown.tables["annotation_leads"]


def read_annotations(scorers: Sequence[str], tables: Sequence[File], costs: Sequence[File]) -> list[AnnotationStudy]:
    """From the files of ``annotations`` by scorer, and those of cost by dataset and generator."""
    none = pl.DataFrame(schema=schema_of(COST))
    frames = [pl.read_csv(path, schema=none.schema) for path in costs]
    schema = schema_of(TABLE_COLUMNS)
    read = [(scorer, pl.read_csv(path, schema=schema)) for scorer, path in zip(scorers, tables, strict=True)]
    known = [(scorer, table) for scorer, table in read if table.height]
    return [
        AnnotationStudy(scorer, {"annotations": table}, none if place else pl.concat([none, *frames]))
        for place, (scorer, table) in enumerate(known)
    ]
