"""Format tables as Markdown for the terminal."""

import re

import polars as pl


def printed(table: pl.DataFrame) -> str:
    """Return ``table`` as Markdown, with all rows, thousands separators, and empty cells for nulls."""
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=1000,
        thousands_separator=",",
        tbl_cell_numeric_alignment="RIGHT",
        fmt_str_lengths=80,
    ):
        return re.sub(r"(?<=\| )( *)null( *)(?= \|)", r"\1    \2", str(table))
