"""Write the tables of a report as CSV, Parquet and LaTeX."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.display.outputs import Table, available, file_name, resolve
from ragrelay.io.atomic_files import write_parquet, write_spreadsheet, write_text
from ragrelay.report.origin import LEFT_OUT
from ragrelay.report.study import ReportedStudy
from ragrelay.vocabulary.columns import named, schema_of


def write_tables(study: ReportedStudy, outputs: Sequence[Table], folder: Path) -> None:
    """Write to ``folder`` the files of ``outputs`` of each section and group that has their needs, and left_out.csv."""
    for section in study.sections:
        for output in available((output for output in outputs if output.of == "section"), section.tables):
            write_table(section, output, folder, section.keys)
    for sections in study.groups:
        for output in available((output for output in outputs if output.of == "group"), sections[0].tables):
            write_table(sections, output, folder, sections[0].keys)
    write_spreadsheet(_left_out(study.left_out), folder / "left_out.csv")


def write_table(shown: Any, output: Table, folder: Path, keys: Mapping[str, str]) -> None:
    """Write an output's files, of what it is ``of``; frames get ``keys`` as first columns where they are missing."""
    for ending, function in output.files.items():
        made = resolve(function)(shown) if function else shown.rows(output.needs[0])
        path = folder / file_name(output, ending, keys)
        if isinstance(made, str):
            write_text(made, path)
        else:
            write_spreadsheet(named(made, keys), path)
            write_parquet(named(made, keys), path.with_suffix(".parquet"))


def _left_out(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns LEFT_OUT; ``detail`` as JSON where it isn't a text."""
    rows = [
        [value if value is None or isinstance(value, str) or name == "count"
         else json.dumps(value, ensure_ascii=False, sort_keys=True)
         for name, value in ((name, record.get(name)) for name in LEFT_OUT)]
        for record in records
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=schema_of(LEFT_OUT), orient="row")
