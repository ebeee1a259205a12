"""A table's numbers cell by cell."""

import math

import polars as pl
from ragrelay.analysis.cells import by_cell


def test_cells_in_order_of_first_rows_with_their_rows_in_order() -> None:
    table = pl.DataFrame(
        {"name": ["b", "a", "b", "a"], "k": [1, 1, 1, 2], "value": [4, 3, 1, 2], "p": [0.5, None, 0.25, 1.0]}
    )
    found = [(key, numbers.tolist()) for key, numbers in by_cell(table, ["name", "k"], ["p", "value"])]
    assert [key for key, _ in found] == [("b", 1), ("a", 1), ("a", 2)]
    assert found[0][1] == [[0.5, 0.25], [4.0, 1.0]]
    assert math.isnan(found[1][1][0][0])
    assert found[1][1][1] == [3.0]


def test_no_cells_in_an_empty_table() -> None:
    table = pl.DataFrame(schema={"name": pl.String, "value": pl.Int64})
    assert list(by_cell(table, ["name"], ["value"])) == []
