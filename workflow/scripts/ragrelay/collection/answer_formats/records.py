"""Read the records of CSV and TSV files with a header, and the names and whole numbers of a record."""

import csv
import io
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.compressed_files import DAMAGE, open_bytes
from ragrelay.base.io.text_lines import tsv_rows

# pandas writes whole numbers of a column with gaps as 3.0.
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")


def tsv_records(
    path: Path, keys: Collection[str], nullable: Sequence[str] = ()
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield place and the rows after the header as texts; an empty field of a ``nullable`` column is None.

    Raises InputError as tsv_rows does, and for a header with one of ``keys`` twice.
    """
    rows = tsv_rows(path)
    _, names = next(rows, (0, []))
    _check_header(path, names, keys)
    for number, fields in rows:
        record = dict(zip(names, fields, strict=True))
        yield f"{path}, line {number}", record | {name: None for name in nullable if record.get(name) == ""}


def csv_records(
    path: Path, keys: Collection[str], nullable: Sequence[str], expected: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield place and the rows after the header as texts; an empty ``nullable`` field without quotation marks is None.

    A row's line number is that of its end, since a row may contain line ends. Raises InputError for a table that can't
    be read (``expected``), a row of another length than the header, and a header with one of ``keys`` twice.
    """
    csv.field_size_limit(sys.maxsize)
    field = re.compile(r'(?:^|,)("[^"]*(?:""[^"]*)*"|[^,\r\n]*)')
    lines: list[str] = []
    reader = None

    def bare(name: str) -> bool:
        """Return whether a field of the row in ``lines`` has no quotation marks, which the csv module does not tell."""
        names: list[str] = list(reader.fieldnames or ()) if reader else []
        return not field.findall("".join(lines).lstrip("\r\n"))[names.index(name)]

    try:
        with io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(_recorded(file, lines), strict=True)
            _check_header(path, reader.fieldnames or (), keys)
            lines.clear()
            for record in reader:
                place = f"{path}, line {reader.line_num}"
                if None in record or None in record.values():
                    fields = f"{len(reader.fieldnames or ())} as in the header"
                    raise InputError(place, "a row with another number of fields", fields)
                yield place, record | {name: None for name in nullable if record.get(name) == "" and bare(name)}
                lines.clear()
    except (csv.Error, UnicodeDecodeError, *DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        place = f"{path}, after line {reader.line_num if reader else 0}"
        raise InputError(place, f"a table that can't be read ({error})", expected) from None


def _recorded(file: Iterable[str], lines: list[str]) -> Iterator[str]:
    for line in file:
        lines.append(line)
        yield line


def _check_header(path: Path, names: Sequence[str], keys: Collection[str]) -> None:
    for name in keys:
        if names.count(name) > 1:
            raise InputError(f"{path}, line 1", f"column {name!r} twice", "each column once")


def name_of(place: str, key: str, value: Any) -> str | None:
    """Return a record's ``value``, a text; None if it is empty."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(place, f"{key} {value!r}", "a name")
    return value


def whole_number(place: str, key: str, value: Any) -> int | None:
    """Return a record's ``value``, a whole number, maybe written as text; None if it is empty."""
    if value is None or value == "":
        return None
    match = None if isinstance(value, bool) else _WHOLE.fullmatch(str(value))
    if match is None:
        raise InputError(place, f"{key} {value!r}", "a whole number")
    return int(match[1])
