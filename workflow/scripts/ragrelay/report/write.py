"""Writing the report: the page and its tables as files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.files import write_csv, write_text
from ragrelay.report import tables
from ragrelay.report.latex import table1_latex
from ragrelay.report.origin import LEFT_OUT
from ragrelay.report.page import TEMPLATE, render_page
from ragrelay.report.study import Section, Study
from ragrelay.report.table1 import table1, table1_frame

FRAMES = {
    "table1": lambda section: table1_frame(table1(section, section.grades)),
    "table1_unseen": lambda section: table1_frame(table1(section, section.unseen)),
    "correlation": tables.wide_correlation,
    "significance": lambda section: section.ordered(section.significance),
    "copying": tables.copying_frame,
    "cells": lambda section: section.ordered(section.utility),
    "positions": lambda section: section.ordered(section.positions),
    "spread": lambda section: section.ordered(section.spread),
    "lengths": lambda section: section.lengths,
    "cost": lambda section: section.cost,
}
"""The tables of a section that are written as CSV, by name."""
LATEX = {"table1_tex": "utility", "table1_p_tex": "p"}
"""Those written as LaTeX, with the quantity that they show."""
TABLES = (*FRAMES, *LATEX)


def write_report(
    study: Study,
    page: str | Path,
    files: Mapping[str, Sequence[str | Path]],
    left_out: str | Path | None = None,
    template: str | Path = TEMPLATE,
) -> None:
    """Write the page, and the tables named in ``files``: names of TABLES, each with a path per section or none at all.

    ``left_out``: a CSV of what was left out. ``template``: of the page; its styles and script stand beside it.
    Raises KeyError for an unknown name.
    """
    for name, paths in files.items():
        for section, path in zip(study.sections, paths, strict=True) if paths else ():
            if name in LATEX:
                write_text(_latex(study, section, LATEX[name]), path)
            else:
                write_csv(FRAMES[name](section), path)
    if left_out is not None:
        write_csv(_left_out(study.left_out), left_out)
    write_text(render_page(study, Path(template), Path(page)), page)


def _latex(study: Study, section: Section, quantity: str) -> str:
    title = f"{section.dataset}, {section.generator}, {section.scorer}"
    table = table1(section, section.grades)
    return table1_latex(table, quantity, study.reference_retriever, title, section.grid.orderings)


def _left_out(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Columns stage, dataset, what, count, detail (text; JSON where it is something else)."""
    rows = [
        [value if value is None or isinstance(value, str) or name == "count"
         else json.dumps(value, ensure_ascii=False, sort_keys=True)
         for name, value in ((name, record.get(name)) for name in LEFT_OUT)]
        for record in records
    ]  # fmt: skip
    schema = {name: pl.Int64 if name == "count" else pl.String for name in LEFT_OUT}
    return pl.DataFrame(rows, schema=schema, orient="row")
