"""Read the tables behind a study's report, and check that they contain all declared columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import data_warnings
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, Columns, read_table, schema_of
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.sections import Grid, Section
from ragrelay.report.outputs import RESULT_TABLES
from ragrelay.report.study import ReportedStudy
from ragrelay.scoring.filed_scores import WITHOUT_SCORE

File = str | Path
PER_RETRIEVER = "retrieval"
"""The result table with one file per retriever."""
OF_SOME = [name for name, table in RESULT_TABLES.items() if table.only_with in ("bias_checks", "panels")]
"""The result tables that only some scorers have."""


def with_files(sections: Sequence[Mapping[str, Any]], files: Mapping[str, KeyedFiles]) -> list[dict[str, object]]:
    """Add the paths of each section's files to ``sections``, under keys ``files``, ``retrieval`` and ``explorer``."""
    complete = []
    for section in sections:
        measured = files[PER_RETRIEVER].matching(dataset=section["dataset"])
        own = {
            name: known.of(section)
            for name, known in files.items()
            if name in RESULT_TABLES and name != PER_RETRIEVER
            and (name not in OF_SOME or known.matching(scorer=section["scorer"]).paths)
        }  # fmt: skip
        explorer = {"explorer": files["explorer"].of(section)} if "explorer" in files else {}
        complete.append({**section, "files": own, PER_RETRIEVER: measured.by("retriever"), **explorer})
    return complete


def read_study(
    name: str,
    grid: Mapping[str, Any],
    reference_retriever: str | None,
    sections: Sequence[Mapping[str, Any]],
    provenance: File,
    left_out: File,
    pooled: File | None = None,
) -> ReportedStudy:
    """Read a study's sections, provenance and counts of left-out data. ``sections``: the result of `with_files`."""
    counted = read_json(left_out)
    given = ({**one, "scored": _scored(one, counted), "unanswered": counted} for one in sections)
    return ReportedStudy(
        name,
        Grid.of(grid),
        tuple(read_section(one, grid, reference_retriever) for one in given),
        read_json(provenance),
        counted,
        [Path(section["explorer"]) for section in sections if "explorer" in section],
        doubts=data_warnings(counted),
        pooled=None if pooled is None else _table(pooled, resolve(RESULT_TABLES["pooled"].columns)),
    )


def read_section(section: Mapping[str, Any], grid: Mapping[str, Any], reference_retriever: str | None) -> Section:
    """Read a section's result tables.

    ``section`` has the keys dataset, generator, scorer, ``files`` (paths by table) and ``retrieval`` (paths by
    retriever). Optional keys are ``utility`` (``relative``, the default, or ``absolute``), ``references`` (if they
    aren't the dataset's grades), ``primary`` (fields of Primary) and ``named_pair`` (as in Section). ``grid`` has the
    keys retrievers, orderings, k, seeds, measures and ``references`` (each dataset's grades).
    Raises InputError if a table lacks a declared column.
    """
    columns = resolve(RESULT_TABLES[PER_RETRIEVER].columns)
    measured = [
        _table(path, columns).select(pl.lit(retriever).alias("retriever"), *schema_of(columns))
        for retriever, path in section[PER_RETRIEVER].items()
    ]
    none = pl.DataFrame(schema=schema_of({"retriever": CONTEXT_COLUMNS["retriever"], **columns}))
    return Section(
        dataset=section["dataset"],
        generator=section["generator"],
        scorer=section["scorer"],
        relative=section.get("utility", "relative") == "relative",
        grades=tuple(section.get("references") or grid["references"][section["dataset"]]),
        grid=Grid.of(grid),
        reference_retriever=reference_retriever if reference_retriever in grid["retrievers"] else None,
        tables={name: _table(path, resolve(RESULT_TABLES[name].columns)) for name, path in section["files"].items()}
        | {PER_RETRIEVER: pl.concat([none, *measured])},
        primary=Primary(**section["primary"]) if section.get("primary") else None,
        named_pair=section.get("named_pair", False),
        scored=section.get("scored"),
        unanswered=section.get("unanswered", ()),
    )


def _scored(section: Mapping[str, object], left_out: Sequence[Mapping[str, Any]]) -> Mapping[str, int] | None:
    keys = ("dataset", "generator", "scorer")
    partial = [row | row["detail"] for row in left_out if row["what"] == WITHOUT_SCORE and row["count"]]
    return next((row.get("scored") for row in partial if all(row[key] == section[key] for key in keys)), None)


def _table(path: File, columns: Columns) -> pl.DataFrame:
    """Read a table with at least ``columns``; a CSV's columns get their declared types, since some may be all null."""
    if Path(path).suffix == ".parquet":
        frame = pl.read_parquet(path)
        _check(path, frame.columns, columns)
        return frame
    with Path(path).open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
    _check(path, header, columns)
    return read_table(path, columns)


def _check(path: File, present: Sequence[str], columns: Columns) -> None:
    if missing := [name for name in schema_of(columns) if name not in present]:
        raise InputError(path, f"only columns {', '.join(present)}", f"{', '.join(missing)} as well")
