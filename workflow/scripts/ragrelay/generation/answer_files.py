"""Reading many answer files at once, with what each is of."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

CellNames = Mapping[str, str | int]
CELL = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64}


def read_answers(files: Sequence[str | Path], cells: Sequence[CellNames], columns: Sequence[str]) -> pl.DataFrame:
    """``columns`` of answer files, after retriever, ordering and k of the ``cells`` parallel to the files."""
    frames = [
        pl.read_parquet(path, columns=list(columns)).select(
            *(pl.lit(cell[name], kind).alias(name) for name, kind in CELL.items()), *columns
        )
        for path, cell in zip(files, cells, strict=True)
    ]
    return pl.concat(frames)
