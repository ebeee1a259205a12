"""Declare each column in the result files once, with its type, unit and meaning."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

Schema = dict[str, type[pl.DataType]]


class Column(NamedTuple):
    """A column in a result file."""

    dtype: Any
    """The column's polars type."""
    about: str
    """The meaning of the column's values."""
    unit: str = ""
    """The values' unit; empty for names, texts and numbers without a unit."""
    optional: bool = False
    """Whether the column is absent from some files."""


Columns = Mapping[str, Column]
"""A file's columns by name, in order. A name such as ``{measure}`` stands for one column per measure in the grid."""


def schema_of(columns: Columns) -> Schema:
    """Return a mapping from column names to types, without optional columns and placeholders such as ``{measure}``."""
    return {name: column.dtype for name, column in columns.items() if not (column.optional or name.startswith("{"))}


def read_table(path: str | Path, columns: Columns) -> pl.DataFrame:
    """Read a CSV file with the declared column types.

    Args:
        path: The file.
        columns: The declared columns, by name. Other columns keep the types that polars infers.

    Returns:
        The table with all of the file's columns.
    """
    known = {name: column.dtype for name, column in columns.items() if not name.startswith("{")}
    return pl.read_csv(path, schema_overrides=known)


def read_rows(paths: Iterable[str | Path], columns: Columns) -> pl.DataFrame:
    """Read and concatenate CSV files, keeping only the declared ``columns`` with their types."""
    schema = schema_of(columns)
    frames = [read_table(path, columns).select(*schema) for path in paths]
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def text(about: str) -> Column:
    """Declare a text column.

    Args:
        about: The meaning of the column's values.

    Returns:
        The column, with polars' type String.
    """
    return Column(pl.String, about)


def integer(about: str, unit: str = "") -> Column:
    """Declare an integer column.

    Args:
        about: The meaning of the column's values.
        unit: The values' unit; empty for numbers without a unit.

    Returns:
        The column, with polars' type Int64.
    """
    return Column(pl.Int64, about, unit)


def number(about: str, unit: str = "") -> Column:
    """Declare a column of real numbers.

    Args:
        about: The meaning of the column's values.
        unit: The values' unit; empty for numbers without a unit.

    Returns:
        The column, with polars' type Float64.
    """
    return Column(pl.Float64, about, unit)


def boolean(about: str) -> Column:
    """Declare a boolean column.

    Args:
        about: The meaning of a true value.

    Returns:
        The column, with polars' type Boolean.
    """
    return Column(pl.Boolean, about)


STUDY_PART = {
    "dataset": text("name of the dataset in the configuration"),
    "generator": text("name of the generator in the configuration"),
    "scorer": text("name of the scorer in the configuration"),
}
"""The first columns of files about a single dataset, generator and scorer."""
ANSWERS_PART = {name: STUDY_PART[name] for name in ("dataset", "generator")}
"""The first columns of files about a single dataset and generator."""
QID = text("the query's id")
DOCNO = text("the passage's id")
LABEL = integer("the passage's label in the judgements")
PROMPT_ID = text("hash of the prompt's text; together with the seed, it identifies the answer in the cache")
SEED = integer("seed used to sample the answer")
CITED_SENTENCES = Column(
    pl.List(pl.Struct({"text": pl.String, "citations": pl.List(pl.String)})),
    "the answer's sentences (`text`), each with the ids of the cited passages (`citations`); empty if the file of "
    "answers has no citations",
    optional=True,
)
CONTEXT_COLUMNS = {
    "retriever": text("name of the retriever; `zeroshot` for answers without a context"),
    "ordering": text("order of the passages in the prompt; `none` if there is no context"),
    "k": integer("number of passages in the context; 0 if there is no context", "passages"),
}
REFERENCES = text(
    "name of the reference set; a set whose name ends in `-unseen` excludes the passages in the query's own context"
)
CELL_COLUMNS = {**CONTEXT_COLUMNS, "references": REFERENCES}
CELL = list(CELL_COLUMNS)
"""The columns that say which cell a row belongs to: retriever, ordering, k, references."""
CELL_OF_RETRIEVER = CELL[1:]
INTERVAL = {
    "low": number("lower end of the 95% interval"),
    "high": number("upper end of the 95% interval"),
}
REASON = text("why the value or the interval is missing; otherwise empty")
INTERVAL_METHOD = text("method used to compute the interval")
RESAMPLES = integer("number of bootstrap resamples; empty without a bootstrap", "resamples")
TEST_FAMILY = {
    "family": text("name of the family of tests within which the p-values are corrected"),
    "family_size": integer("number of tests in the family", "tests"),
}


def adjusted(p_values: Mapping[str, str] | None = None) -> dict[str, Column]:
    """Declare the columns for corrected p-values (see analysis.multiplicity). ``p_values`` maps each p-value column to
    the prefix of its corrected columns (default: ``p_value`` to ``p``)."""
    corrections = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}
    added = {
        f"{prefix}_{name}": number(f"`{column}` after {whose} correction within the family")
        for column, prefix in (p_values or {"p_value": "p"}).items()
        for name, whose in corrections.items()
    }
    return {"family": TEST_FAMILY["family"], **added, "family_size": TEST_FAMILY["family_size"]}


def named(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Put the columns dataset, generator and scorer first, with values from ``names`` where available.

    Tables about different datasets, generators and scorers can then be concatenated.
    """
    wildcards = dict(names.items())
    first = [pl.lit(wildcards[name]).alias(name) if name in wildcards else pl.col(name)
             for name in STUDY_PART if name in wildcards or name in frame.columns]  # fmt: skip
    return frame.select(*first, *(name for name in frame.columns if name not in STUDY_PART))
