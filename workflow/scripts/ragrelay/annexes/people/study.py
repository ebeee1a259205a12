"""Hold what the report shows of people's scores of a dataset's answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.people.assessors import COLUMNS as ASSESSORS
from ragrelay.annexes.people.estimates import COLUMNS as ESTIMATES
from ragrelay.annexes.people.following import AGREEMENT_COLUMNS, COMPARISON_COLUMNS
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import read_table

TABLES = {
    "people_estimates": ESTIMATES,
    "people_agreement": AGREEMENT_COLUMNS,
    "people_comparisons": COMPARISON_COLUMNS,
    "assessors": ASSESSORS,
}
"""Columns by the name of the result table."""


@dataclass(frozen=True)
class PeopleStudy:
    """People's scores of the answers to one dataset; ``tables`` by name of TABLES."""

    keys: Mapping[str, str]
    tables: Mapping[str, pl.DataFrame]
    people: str
    scorers: tuple[str, ...]
    primary: Mapping[str, Any] | None = None
    """The primary comparison (config.study.Study.primary); None with one retriever."""

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def title(self) -> str:
        return f"{self.keys['dataset']}, scores of {self.people}"

    @property
    def generators(self) -> list[str]:
        """Return the generators, in the order of the tables."""
        return self["people_estimates"]["generator"].unique(maintain_order=True).to_list()


def read_people(files: Mapping[str, KeyedFiles], given: Mapping[str, Any] | None) -> list[PeopleStudy]:
    """Read the study of every dataset among the ``files`` of TABLES; ``given``: People.drawn of the rules."""
    if given is None:
        return []
    return [
        read_study({name: files[name].of(keys) for name in TABLES}, keys, given)
        for keys, _ in files["people_estimates"].keyed
    ]


def read_study(paths: Mapping[str, str | Path], keys: Mapping[str, str], given: Mapping[str, Any]) -> PeopleStudy:
    """Read the study of one dataset from the files of TABLES."""
    tables = {name: read_table(paths[name], columns) for name, columns in TABLES.items()}
    primary = given["primary"][keys["dataset"]]
    return PeopleStudy(keys, tables, given["people"], tuple(given["scorers"]), primary)
