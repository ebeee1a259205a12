"""Read a table's numbers cell by cell in one pass, because filtering or building a frame per cell would take longer."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ragrelay.analysis.coefficients import Array


def by_cell(
    table: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], Array]]:
    """Yield each distinct tuple of ``keys`` in ``table`` with its rows' numbers, (columns, rows); nulls become NaN.

    Cells come in the order of their first rows; within a cell, rows keep the table's order.
    """
    cells = table.group_by(keys, maintain_order=True).agg(pl.col(columns).cast(pl.Float64), pl.len().alias(""))
    numbers = cells.select(columns).explode(columns).to_numpy().T
    ends = cells[""].cum_sum()
    for key, start, end in zip(cells.select(keys).iter_rows(), ends - cells[""], ends, strict=True):
        yield key, numbers[:, start:end]
