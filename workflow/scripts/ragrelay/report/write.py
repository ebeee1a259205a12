"""Writing the report: the page, and its tables as CSV, Parquet and LaTeX."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.io.atomic_files import write_csv, write_parquet, write_text
from ragrelay.report import tables
from ragrelay.report.latex import table1_latex
from ragrelay.report.latex_long import correlation_latex, significance_latex
from ragrelay.report.origin import LEFT_OUT
from ragrelay.report.page import TEMPLATE, render_page
from ragrelay.report.study import Section, Study
from ragrelay.report.table1 import table1, table1_frame

FRAMES: dict[str, Callable[[Section], pl.DataFrame]] = {
    "table1": lambda section: table1_frame(table1(section, section.grades)),
    "table1_unseen": lambda section: table1_frame(table1(section, section.unseen)),
    "correlation": tables.wide_correlation,
    "significance": lambda section: section.ordered(section.significance),
    "differences": lambda section: section.ordered(section.differences),
    "variance": lambda section: section.ordered(section.variance),
    "copying": tables.copying_frame,
    "cells": lambda section: section.ordered(section.utility),
    "positions": lambda section: section.ordered(section.positions),
    "spread": lambda section: section.ordered(section.spread),
    "lengths": lambda section: section.lengths,
    "cost": lambda section: section.cost,
}
"""The tables of a section that are written as CSV, and as Parquet under ``<name>_parquet``."""
LATEX: dict[str, Callable[[Section], str]] = {
    "correlation_tex": lambda section: correlation_latex(section, unseen=False),
    "correlation_unseen_tex": lambda section: correlation_latex(section, unseen=True),
    "significance_tex": lambda section: significance_latex(section, unseen=False),
    "significance_unseen_tex": lambda section: significance_latex(section, unseen=True),
}
"""Those of a section that are written as LaTeX."""
OF_ALL_DATASETS = {
    "table1_tex": ("utility", False),
    "table1_p_tex": ("p", False),
    "table1_unseen_tex": ("utility", True),
    "table1_p_unseen_tex": ("p", True),
}
"""Table 1 as LaTeX, all datasets of a generator and scorer in one: the quantity, and whether on unseen references."""
PARQUET = "_parquet"
TABLES = (*FRAMES, *(name + PARQUET for name in FRAMES), *LATEX, *OF_ALL_DATASETS)


def write_report(
    study: Study,
    page: str | Path,
    files: Mapping[str, Sequence[str | Path]],
    left_out: str | Path | None = None,
    template: str | Path = TEMPLATE,
) -> None:
    """Write the page, and the tables named in ``files``: names of TABLES, each with its paths or none at all.

    A path per section; for those of OF_ALL_DATASETS one per generator and scorer, in the order of the sections.
    ``left_out``: a CSV of what was left out. ``template``: of the page; its styles and script stand beside it.
    Raises KeyError for an unknown name.
    """
    for name, paths in files.items():
        if name in OF_ALL_DATASETS:
            for sections, path in zip(_groups(study), paths, strict=True) if paths else ():
                write_text(_table1(study, sections, *OF_ALL_DATASETS[name]), path)
            continue
        for section, path in zip(study.sections, paths, strict=True) if paths else ():
            if name in LATEX:
                write_text(LATEX[name](section), path)
            elif name.endswith(PARQUET):
                write_parquet(FRAMES[name.removesuffix(PARQUET)](section), path)
            else:
                write_csv(FRAMES[name](section), path)
    if left_out is not None:
        write_csv(_left_out(study.left_out), left_out)
    write_text(render_page(study, Path(template), Path(page)), page)


def _groups(study: Study) -> list[list[Section]]:
    """The sections of each generator and scorer."""
    groups: dict[tuple[str, str], list[Section]] = {}
    for section in study.sections:
        groups.setdefault((section.generator, section.scorer), []).append(section)
    return list(groups.values())


def _table1(study: Study, sections: Sequence[Section], quantity: str, unseen: bool) -> str:
    blocks = [(section.dataset, table1(section, section.unseen if unseen else section.grades)) for section in sections]
    title = f"{sections[0].generator}, {sections[0].scorer}"
    return table1_latex(blocks, quantity, study.reference_retriever, title, study.grid.orderings, unseen)


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
