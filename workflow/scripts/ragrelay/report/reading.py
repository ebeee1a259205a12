"""Reading a study's analysis files, checked for the columns that the report needs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.errors import InputError
from ragrelay.report.study import (
    CORRELATION,
    DIFFERENCES,
    PER_QUERY,
    RETRIEVAL,
    SIGNIFICANCE,
    UTILITY,
    VARIANCE,
    Grid,
    Schema,
    Section,
    Study,
)

File = str | Path
Keys = Sequence[Mapping[str, str]]


def read_study(
    name: str,
    grid: Mapping[str, Any],
    reference_retriever: str | None,
    sections: Sequence[Mapping[str, Any]],
    retrieval_keys: Keys,
    utility: Sequence[File],
    correlation: Sequence[File],
    significance: Sequence[File],
    per_query: Sequence[File],
    retrieval: Sequence[File],
    provenance: File,
    left_out: File,
    differences: Sequence[File],
    variance: Sequence[File],
) -> Study:
    """Read all of a study, its files (all but ``retrieval``) parallel to ``sections``. Raises as read_section."""
    files = zip(utility, correlation, significance, per_query, strict=True)
    more = zip(differences, variance, strict=True)
    read = [
        replace(
            read_section(section, grid, *four, retrieval, retrieval_keys),
            differences=_csv(two[0], DIFFERENCES),
            variance=_csv(two[1], VARIANCE),
        )
        for section, four, two in zip(sections, files, more, strict=True)
    ]
    known = reference_retriever if reference_retriever in grid["retrievers"] else None
    return Study(name, Grid.of(grid), known, tuple(read), read_json(provenance), read_json(left_out))


def read_section(
    section: Mapping[str, Any],
    grid: Mapping[str, Any],
    utility: File,
    correlation: File,
    significance: File,
    per_query: File,
    retrieval: Sequence[File],
    retrieval_keys: Keys,
) -> Section:
    """Read one section's files, those that figures need: its ``differences`` and ``variance`` are empty.

    ``section``: dataset, generator, scorer, maybe ``utility`` (``relative``, the default, or ``absolute``), maybe
    ``references`` (names of the scorer's reference sets, where they aren't the dataset's grades).
    ``grid``: retrievers, orderings, k, seeds, measures, and ``references``: the names of the grades per dataset.
    ``retrieval_keys`` (dataset, retriever) stand parallel to the files ``retrieval``; other datasets' are passed by.
    Raises InputError for a file that lacks a column.
    """
    columns: Schema = {"retriever": pl.String} | RETRIEVAL
    measured = [
        _parquet(path, RETRIEVAL).select(pl.lit(key["retriever"]).alias("retriever"), *RETRIEVAL)
        for path, key in zip(retrieval, retrieval_keys, strict=True)
        if key["dataset"] == section["dataset"]
    ]
    return Section(
        dataset=section["dataset"],
        generator=section["generator"],
        scorer=section["scorer"],
        relative=section.get("utility", "relative") == "relative",
        grades=tuple(section.get("references") or grid["references"][section["dataset"]]),
        grid=Grid.of(grid),
        utility=_csv(utility, UTILITY),
        correlation=_csv(correlation, CORRELATION),
        significance=_csv(significance, SIGNIFICANCE),
        per_query=_parquet(per_query, PER_QUERY),
        retrieval=pl.concat(measured) if measured else pl.DataFrame(schema=columns),
    )


def read_json(path: File) -> Any:
    """The value of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def _csv(path: File, schema: Schema) -> pl.DataFrame:
    """A CSV of which at least the columns of ``schema`` are there, with their types (a column may be all null)."""
    with Path(path).open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
    _check(path, header, schema)
    return pl.read_csv(path, schema_overrides=schema)


def _parquet(path: File, schema: Schema) -> pl.DataFrame:
    frame = pl.read_parquet(path)
    _check(path, frame.columns, schema)
    return frame


def _check(path: File, columns: Sequence[str], schema: Schema) -> None:
    missing = [column for column in schema if column not in columns]
    if missing:
        raise InputError(path, f"columns {', '.join(columns)}", f"also {', '.join(missing)}")
