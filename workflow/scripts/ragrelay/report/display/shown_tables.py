"""The tables from which an annex builds its page, for one set of wildcard values (such as dataset and generator)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import Columns, read_table


@dataclass(frozen=True)
class ShownTables:
    """An annex's result tables for one set of wildcard values. Subclasses declare the columns in ``COLUMNS``."""

    COLUMNS: ClassVar[Mapping[str, Columns]]
    """The columns of each result table, by its name; the first table has a file for every unit."""

    keys: Mapping[str, str]
    """The wildcards of the tables' paths."""
    tables: Mapping[str, pl.DataFrame]
    params: Any = None
    """Plain values from the annex's rules (base.annex.Annex.page_params)."""

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    @property
    def title(self) -> str:
        return " · ".join(self.keys.values())

    @classmethod
    def read(cls, paths: Mapping[str, str | Path] | Any, keys: Mapping[str, str], params: Any = None) -> Self:
        """Read the tables for one set of wildcard values.

        Args:
            paths: The tables' paths, keyed by table name.
            keys: The values of the wildcards in the paths.
            params: The return value of the annex's ``page_params``.
        """
        return cls(keys, {name: read_table(paths[name], columns) for name, columns in cls.COLUMNS.items()}, params)

    @classmethod
    def each(cls, files: Mapping[str, KeyedFiles], params: object = None) -> list[Self]:
        """Read the tables for every set of wildcard values. Return an empty list if the study has no such tables."""
        first = next(iter(cls.COLUMNS))
        units = files[first].keyed if first in files else []
        return [cls.read({name: files[name].of(keys) for name in cls.COLUMNS}, keys, params) for keys, _ in units]
