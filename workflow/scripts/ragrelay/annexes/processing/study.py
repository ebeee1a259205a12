"""The report's data about processors, for a dataset, generator and scorer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragrelay.analysis import gain, summary, systems
from ragrelay.annexes.processing.effects import COLUMNS
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table
from ragrelay.report.facts import Difference

Row = dict[str, Any]
TABLES = {"processing": COLUMNS, "systems": systems.COLUMNS, "gain": gain.COLUMNS, "utility": summary.COLUMNS}
"""Columns of the tables in ProcessingStudy, keyed by the table's name."""


@dataclass(frozen=True)
class ProcessingStudy:
    """The data about processors for a section of the page.

    ``tables``: the tables named in TABLES. ``ordering`` and ``references``: the values that the page shows first.
    """

    keys: Mapping[str, str]
    tables: Mapping[str, pl.DataFrame]
    ordering: str
    references: str

    @property
    def title(self) -> str:
        return " · ".join(self.keys.values())

    @property
    def rows(self) -> list[Row]:
        """The rows of processing.csv (a row per processed retriever and k), with ``pair``, ``means`` and ``gains``.

        ``pair``: the row of systems.csv for the original and the processed retriever, or None. ``means`` and ``gains``:
        P and the gain (value, low, high, verdict) for the same two retrievers; None if missing.
        """
        return [row | self._compared(row) for row in self.tables["processing"].to_dicts()]

    def _compared(self, row: Row) -> Row:
        cell = {"ordering": self.ordering, "k": row["k"], "references": self.references}
        names, pairs = (row["of"], row["retriever"]), self.tables["systems"].filter(**cell)
        found = [
            Difference.of(pair)
            for pair in pairs.to_dicts()
            if {*names} == {pair["retriever"], pair["against_retriever"]}
        ]
        pair = next((each if each.retriever == row["retriever"] else each.turned() for each in found), None)
        means = [self.tables["utility"].filter(retriever=name, **cell)["mean_p"].to_list() for name in names]
        gains = [self.tables["gain"].filter(retriever=name, **cell).to_dicts() for name in names]
        return {
            "pair": pair,
            "means": [some[0] if some else None for some in means],
            "gains": [some[0] if some else None for some in gains],
        }


def read_processing(files: Mapping[str, KeyedFiles], given: Mapping[str, Any] | None) -> list[ProcessingStudy]:
    """Read the data about processors for each section. ``given``: values for the page (see rules.Processing.params)."""
    if given is None:
        return []
    studies = []
    for section in given["sections"]:
        keys = {name: section[name] for name in ("dataset", "generator", "scorer")}
        tables = {name: read_table(files[name].of(keys), columns) for name, columns in TABLES.items()}
        first = section["primary"] or {
            "ordering": given["grid"]["orderings"][0],
            "references": section["references"][0],
        }
        studies.append(ProcessingStudy(keys, tables, first["ordering"], first["references"]))
    return studies
