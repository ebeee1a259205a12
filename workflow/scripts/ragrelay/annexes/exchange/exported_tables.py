"""Export each table of a study, for all sections together, as a Parquet file; a data card describes the tables."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.annexes.notebook.study_results import TABLES, Results
from ragrelay.base.io.atomic_files import write_parquet, write_text
from ragrelay.base.vocabulary.columns import STUDY_PART


def export_tables(results: Results, outputs: Mapping[str, str | Path], card: str | Path, study: str) -> None:
    """Write the tables to ``outputs`` (paths keyed by table name), and the data card to ``card``."""
    frames = {name: results.table(name) for name in outputs}
    for name, path in outputs.items():
        write_parquet(frames[name], path)
    write_text(_card(results, frames, study), card)


def _card(results: Results, frames: Mapping[str, pl.DataFrame], study: str) -> str:
    parts = [
        f"# Tables of the study {study}\n\nWritten by ragrelay. There is one Parquet file per table, with the rows of "
        "all datasets, generators and scorers. Each table's source is its file in the study's results and the rule "
        "that writes it. In Python: `ragrelay.open(folder).table(name)`.\n"
    ]
    for name, frame in frames.items():
        file, declared = TABLES[name], {**STUDY_PART, **results.columns(name)}
        rows = []
        for column, dtype in frame.schema.items():
            declaration = declared.get(column)
            unit, about = (declaration.unit, declaration.about) if declaration else ("", "identifies the row")
            rows.append(f"| `{column}` | {dtype} | {unit} | {about} |")
        parts.append(
            f"## {name}.parquet\n\n{file.about[0].upper()}{file.about[1:]}. {len(frame)} rows, from `{file.path}` "
            f"(`{file.rule}`).\n"
        )
        parts.append("\n".join(["| column | type | unit | description |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)
