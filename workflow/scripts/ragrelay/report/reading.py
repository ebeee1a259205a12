"""Reading a study's analysis files, checked for the columns that the report needs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annotations.cost import SCHEMA as COST
from ragrelay.annotations.study_tables import KEY, TABLE
from ragrelay.claims.study import ClaimsStudy
from ragrelay.errors import InputError
from ragrelay.report.study import OPTIONAL_FILES, RETRIEVAL, SECTION_FILES, Annotations, Grid, Schema, Section, Study

File = str | Path
Keys = Sequence[Mapping[str, str]]


def read_study(
    name: str,
    grid: Mapping[str, Any],
    reference_retriever: str | None,
    sections: Sequence[Mapping[str, Any]],
    files: Mapping[str, Sequence[File]],
    retrieval: Sequence[File],
    retrieval_keys: Keys,
    provenance: File,
    left_out: File,
    explorer: Sequence[File] = (),
    annotations: Sequence[Annotations] = (),
    claims_study: ClaimsStudy | None = None,
) -> Study:
    """Read all of a study; each list of ``files`` stands parallel to ``sections``. Raises as read_section."""
    read = [
        read_section(section, grid, {name: paths[place] for name, paths in files.items()}, retrieval, retrieval_keys)
        for place, section in enumerate(sections)
    ]
    known = reference_retriever if reference_retriever in grid["retrievers"] else None
    folders = [Path(folder) for folder in explorer]
    origin = (read_json(provenance), read_json(left_out))
    return Study(name, Grid.of(grid), known, tuple(read), *origin, folders, annotations, claims_study)


def read_section(
    section: Mapping[str, Any],
    grid: Mapping[str, Any],
    files: Mapping[str, File],
    retrieval: Sequence[File],
    retrieval_keys: Keys,
) -> Section:
    """Read one section's files.

    ``section``: dataset, generator, scorer, maybe ``utility`` (``relative``, the default, or ``absolute``), maybe
    ``references`` (names of the scorer's reference sets, where they aren't the dataset's grades).
    ``grid``: retrievers, orderings, k, seeds, measures, and ``references``: the names of the grades per dataset.
    ``files``: one for each name of SECTION_FILES; those that figures don't show, and OPTIONAL_FILES, may be left out.
    ``retrieval_keys`` (dataset, retriever) stand parallel to the files ``retrieval``; other datasets' are passed by.
    Raises InputError for a file that lacks a column.
    """
    columns: Schema = {"retriever": pl.String} | RETRIEVAL
    measured = [
        _table(path, RETRIEVAL).select(pl.lit(key["retriever"]).alias("retriever"), *RETRIEVAL)
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
        **{name: _table(path, (SECTION_FILES | OPTIONAL_FILES)[name]) for name, path in files.items()},
        retrieval=pl.concat(measured) if measured else pl.DataFrame(schema=columns),
    )


def read_annotations(
    scorers: Sequence[str], tables: Sequence[File], costs: Sequence[File], keys: Keys
) -> list[Annotations]:
    """Tables by scorer (gather.TABLE), and the files of cost by dataset and generator (``keys``)."""
    frames = [
        pl.read_csv(path, schema=COST).select(*(pl.lit(key[name]).alias(name) for name in KEY), "*")
        for path, key in zip(costs, keys, strict=True)
    ]
    cost = pl.concat([pl.DataFrame(schema={**KEY, **COST}), *frames])
    read = [(scorer, pl.read_csv(path, schema=TABLE)) for scorer, path in zip(scorers, tables, strict=True)]
    return [Annotations(scorer, table, cost) for scorer, table in read if table.height]


def read_json(path: File) -> Any:
    """The value of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def _table(path: File, schema: Schema) -> pl.DataFrame:
    """A table with at least the columns of ``schema``; a CSV's with their types (one may be all null)."""
    if Path(path).suffix == ".parquet":
        frame = pl.read_parquet(path)
        _check(path, frame.columns, schema)
        return frame
    with Path(path).open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
    _check(path, header, schema)
    return pl.read_csv(path, schema_overrides=schema)


def _check(path: File, columns: Sequence[str], schema: Schema) -> None:
    missing = [column for column in schema if column not in columns]
    if missing:
        raise InputError(path, f"columns {', '.join(columns)}", f"also {', '.join(missing)}")
