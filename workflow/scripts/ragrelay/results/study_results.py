"""Every table of a finished study, read by name."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.display.outputs import resolve
from ragrelay.errors import InputError, one_of
from ragrelay.io.keyed_files import WILDCARD, KeyedFiles
from ragrelay.jobs.unreadable_files import naming_the_damaged
from ragrelay.study import files
from ragrelay.vocabulary.columns import STUDY_PART, Columns

_OF_CELLS = ("retriever", "ordering", "k", "seed")
TABLES = {**files.tables, "answers": files.answers, "scores": files.scores}
"""Every table by name: those of the analysis, `per_query` (utility of each query), `retrieval`, `scores`, `answers`."""


class Results:
    """The results of one study, in ``folder``; every table has the columns that docs/results.md lists.

    A table's first columns say what each row is of, where the file's path does: dataset, generator, scorer, and so on.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def utility(self) -> pl.DataFrame:
        """P, P₀ and utility of every query in every cell."""
        return self.table("per_query")

    def gain(self) -> pl.DataFrame:
        """P against P₀, paired by query, with a verdict per cell."""
        return self.table("gain")

    def retrieval(self) -> pl.DataFrame:
        """Retrieval measures of every query."""
        return self.table("retrieval")

    def scores(self) -> pl.DataFrame:
        """The score of every answer against every reference set."""
        return self.table("scores")

    def answers(self) -> pl.DataFrame:
        """Every answer."""
        return self.table("answers")

    def table(self, name: str) -> pl.DataFrame:
        """The table ``name`` of TABLES, of all datasets, generators and scorers.

        Raises InputError for an unknown name, where the study has no such file, and for a damaged one.
        """
        if name not in TABLES:
            raise InputError("table", repr(name), one_of(TABLES, name))
        file, columns = TABLES[name], self.columns(name)
        paths = sorted(self.folder.glob(WILDCARD.sub("*", file.path)))
        if not paths:
            raise InputError(self.folder, f"no {file.path}", "the folder of a finished study, results/<study>")
        return pl.concat(
            [_with_key(_read(path, columns), key) for key, path in KeyedFiles(file.path, tuple(paths)).keyed]
        )

    def tables(self) -> list[str]:
        """Names of the tables that this study has."""
        return [name for name, file in TABLES.items() if any(self.folder.glob(WILDCARD.sub("*", file.path)))]

    def columns(self, name: str) -> Columns:
        """The columns of a table's files, each with its type, meaning and unit."""
        found: Columns = resolve(TABLES[name].columns)
        return found


def load(folder: str | Path) -> Results:
    """The results in ``folder``, such as ``results/demo``. Raises InputError where there is no such folder."""
    if not Path(folder).is_dir():
        raise InputError(folder, "no folder", "that of a study's results, results/<study>")
    return Results(folder)


def _read(path: Path, columns: Columns) -> pl.DataFrame:
    with naming_the_damaged([str(path)]):
        if path.suffix == ".parquet":
            return pl.read_parquet(path, glob=False)
        known = {name: column.dtype for name, column in columns.items()}
        return pl.read_csv(path, schema_overrides={name: dtype for name, dtype in known.items() if "{" not in name})


def _with_key(frame: pl.DataFrame, key: Mapping[str, str | int]) -> pl.DataFrame:
    names = [name for name in (*STUDY_PART, *_OF_CELLS) if name in key and name not in frame.columns]
    return frame.select(*(pl.lit(key[name]).alias(name) for name in names), pl.all())
