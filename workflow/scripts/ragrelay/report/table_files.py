"""Write a report's tables to CSV, Parquet and LaTeX files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.atomic_files import write_parquet, write_spreadsheet, write_text
from ragrelay.base.vocabulary.columns import named, schema_of
from ragrelay.report.display.outputs import Table, available, file_name, resolve
from ragrelay.report.origin import LEFT_OUT
from ragrelay.report.study import ReportedStudy


def write_tables(study: ReportedStudy, outputs: Sequence[Table], folder: Path) -> None:
    """Write the tables in ``outputs``, once per section or once per generator and scorer, and write left_out.csv."""
    for section in study.sections:
        for output in available((output for output in outputs if output.of == "section"), section.tables):
            write_table(section, output, folder, section.keys)
    for sections in study.groups:
        for output in available((output for output in outputs if output.of == "group"), sections[0].tables):
            write_table(sections, output, folder, sections[0].keys)
    write_spreadsheet(_left_out(study.left_out), folder / "left_out.csv")


def write_table(shown: Any, output: Table, folder: Path, keys: Mapping[str, str]) -> None:
    """Write a table to its files. ``keys``: values for the file names and for key columns missing from the table."""
    for ending, function in output.files.items():
        content = resolve(function)(shown) if function else shown.rows(output.needs[0])
        path = folder / file_name(output, ending, keys)
        if isinstance(content, str):
            write_text(content, path)
        else:
            write_spreadsheet(named(content, keys), path)
            write_parquet(named(content, keys), path.with_suffix(".parquet"))


def _left_out(records: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Return columns LEFT_OUT, with ``detail`` as JSON if it isn't text."""
    rows = [
        [value if value is None or isinstance(value, str) or name == "count"
         else json.dumps(value, ensure_ascii=False, sort_keys=True)
         for name, value in ((name, record.get(name)) for name in LEFT_OUT)]
        for record in records
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=schema_of(LEFT_OUT), orient="row")
