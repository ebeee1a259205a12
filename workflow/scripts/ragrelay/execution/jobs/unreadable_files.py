"""Find a failed job's damaged input files, and say how to recreate them."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragrelay.base.errors import InputError


def check_ends(paths: Iterable[str]) -> None:
    """Raise InputError if a CSV file ends mid-line, because readers would pad the last row with empty fields."""
    for path in paths:
        if path.endswith(".csv"):
            with Path(path).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - 1))
                if file.read() != b"\n":
                    raise _not_whole(path, "it ends within a line" if size else "it is empty")


def check_readable(paths: Iterable[str]) -> None:
    """Read the Parquet and JSON files in ``paths`` completely, and raise InputError for an unreadable file.

    Call this after a job has failed, because the error that a reader raises doesn't name the file.
    """
    # Imported here because Snakemake imports this module at every start.
    import polars as pl

    from ragrelay.base.io.parquet_files import FAULTS, check_parquet, fault

    for path in paths:
        try:
            if path.endswith(".parquet"):
                check_parquet(path)
                pl.read_parquet(path, glob=False)  # Polars rejects some files that Arrow accepts
            elif path.endswith(".json"):
                json.loads(Path(path).read_text(encoding="utf-8"))
        except (*FAULTS, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _not_whole(path, fault(error)) from None


@contextmanager
def naming_the_damaged(paths: Iterable[str]) -> Iterator[None]:
    """Raise InputError if the body of the with statement fails and one of the files in ``paths`` is damaged.

    Files are only checked completely after a failure, because a complete check takes longer than reading a file.
    """
    check_ends(paths)
    try:
        yield
    except BaseException as error:
        if is_failure(error):
            check_readable(paths)
        raise


def is_failure(error: BaseException) -> bool:
    """Return whether ``error`` is an Exception or a Polars panic, rather than a request to stop, such as SystemExit."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _not_whole(path: str, reason: str) -> InputError:
    return InputError(
        path, f"a damaged file ({reason})", f"a complete file; run rm {path}, then the same command again"
    )
