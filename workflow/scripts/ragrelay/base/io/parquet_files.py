"""Read Parquet files that may be damaged. We use Arrow, because some damaged files make Polars abort the process."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from ragrelay.base.errors import InputError

T = TypeVar("T")
FAULTS = (pa.ArrowException, OSError, ValueError, MemoryError)
"""Errors that may be raised when reading a damaged file."""
LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
PLAIN = (
    pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_integer, pa.types.is_floating,
    pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null,
)  # fmt: skip
"""Types that Polars imports from Arrow unchanged."""


def read_frame(path: str | Path) -> pl.DataFrame:
    """Read a Parquet file that a study has written. Raises one of the errors in FAULTS if the file is damaged."""
    return pl.DataFrame(_table(path))


def _table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or those of ``columns`` that it has, and validate every value.

    Verifies Parquet's checksums if the file has them. Raises the errors in FAULTS.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        names = file.schema_arrow.names
        table = file.read(columns=None if columns is None else [name for name in columns if name in names])
        _check_rows(table.num_rows, file)
    table.validate(full=True)  # checks for UTF-8, and that lists end where their values do
    return table


def check_parquet(path: str | Path) -> None:
    """Check that all data in a Parquet file can be read. Raises one of the errors in FAULTS if the file is damaged."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        rows = 0
        for batch in file.iter_batches():
            batch.validate(full=True)
            rows += batch.num_rows
        _check_rows(rows, file)


def _check_rows(rows: int, file: pq.ParquetFile) -> None:
    """Raise ValueError if the number of rows differs from the metadata, for example in a damaged row group."""
    if rows != file.metadata.num_rows:
        raise ValueError(f"{rows} rows, not {file.metadata.num_rows}")


def fault(error: BaseException) -> str:
    """Describe one of the errors in FAULTS on one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def read_parquet(path: Path, expected: str, required: Sequence[str], optional: Sequence[str] = ()) -> pl.DataFrame:
    """Read the ``required`` columns, and any ``optional`` columns that exist, from a user's Parquet file.

    Categories and dates become strings. ``expected``: the kind of file, as a noun phrase for messages. Raises
    InputError if the file is missing, damaged or not Parquet, if a column is missing or repeated, or if a column
    contains values other than strings, numbers, booleans, or lists or records of these.
    """
    if not path.is_file():
        raise InputError(path, "no such file", expected)
    try:
        table = _table(path, (*required, *optional))
        columns = [_without_categories(column) for column in table.columns]
    except FAULTS as error:
        raise InputError(path, f"an unreadable Parquet file ({fault(error)})", expected) from None
    names = table.column_names
    if missing := [name for name in required if name not in names]:
        raise InputError(path, f"no column {', '.join(missing)}", expected)
    for name, values in zip(names, columns, strict=True):
        if names.count(name) > 1:
            raise InputError(path, f"duplicate column {name!r}", "unique column names")
        if not _plain(values.type):
            plain = "strings, numbers or Booleans, or lists or records of these"
            raise InputError(f"{path}, column {name}", f"values of type {values.type}", plain)
    return pl.DataFrame([pl.Series(name, values) for name, values in zip(names, columns, strict=True)])


def _without_categories(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert categories and dates to strings."""
    if pa.types.is_dictionary(values.type):
        return values.cast(values.type.value_type)
    return values.cast(pa.string()) if pa.types.is_temporal(values.type) else values


def _plain(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_plain(field.type) for field in kind)
    return _plain(kind.value_type) if any(is_list(kind) for is_list in LISTS) else any(is_it(kind) for is_it in PLAIN)


def read_whole(path: Path, study: str, read: Callable[[Path], T]) -> T:
    """Return ``read(path)`` for a file in the results of ``study``. Raises InputError if the file can't be read."""
    try:
        return read(path)
    except FAULTS as error:
        missing = isinstance(error, FileNotFoundError)
        found = "no such file" if missing else f"a damaged file ({fault(error)})"
        mend = f"run the command of study {study} again" + ("" if missing else f", after rm {path}")
        raise InputError(path, found, f"a complete file; {mend}") from None
