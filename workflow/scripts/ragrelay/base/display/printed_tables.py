"""Print tables on a terminal in Markdown."""

import polars as pl


def printed(table: pl.DataFrame) -> str:
    """Return the whole ``table`` in Markdown, with numbers right-aligned and with commas."""
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
        return str(table)
