"""Read rows from CSV and TSV files with a header, and convert fields to names and integers."""

import csv
import io
import itertools
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.compressed_files import DAMAGE, open_bytes
from ragrelay.base.io.text_lines import tsv_rows

# pandas writes integers in a column with gaps as 3.0.
_WHOLE = re.compile(r"([0-9]{1,9})(?:[.,]0+)?")
_SEPARATOR = re.compile(r'"?sep=(.)"?[,;\t]*\s*', re.IGNORECASE)
_NO_UTF8 = re.compile("[\udc80-\udcff]")
"""The decoded form of bytes that aren't valid UTF-8."""


def tsv_records(
    path: Path, keys: Collection[str], nullable: Sequence[str] = ()
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the position (file and line) and values of each row after the header.

    Empty fields in ``nullable`` columns are None. Raises InputError if a row or the header is malformed.
    """
    rows = tsv_rows(path)
    _, header = next(rows, (0, []))
    names = named_keys(f"{path}, line 1", header, keys)
    for number, fields in rows:
        record = dict(zip(names, fields, strict=True))
        yield f"{path}, line {number}", record | {name: None for name in nullable if record.get(name) == ""}


def csv_records(
    path: Path, keys: Collection[str], nullable: Sequence[str], expected: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the position (file and line) and values of each row after the header.

    Unquoted empty fields in ``nullable`` columns are None. The separator (comma, semicolon or tab) is read from Excel's
    first line ``sep=`` or, without such a line, chosen so that the header contains as many of ``keys`` as possible.
    Invalid UTF-8 is allowed in columns other than ``keys``. Raises InputError if the table can't be read (with
    ``expected`` in the message), a row has too many or too few fields, or the header repeats one of ``keys``.
    """
    csv.field_size_limit(sys.maxsize)
    lines: list[str] = []
    reader = None

    def bare(name: str) -> bool:
        """Return whether the field ``name`` is unquoted in the current row (the csv module doesn't report this)."""
        names: list[str] = list(reader.fieldnames or ()) if reader else []
        return not field.findall("".join(lines).lstrip("\r\n"))[names.index(name)]

    try:
        with io.TextIOWrapper(open_bytes(path), "utf-8-sig", "surrogateescape", newline="") as file:
            first = file.readline()
            said = _SEPARATOR.fullmatch(first)
            head = file.readline() if said else first
            separator = said[1] if said else _separator(head, keys)
            field = re.compile(r'(?:^|{0})("[^"]*(?:""[^"]*)*"|[^{0}\r\n]*)'.format(re.escape(separator)))
            rows = itertools.chain([head], file)
            reader = csv.DictReader(_recorded(rows, lines), delimiter=separator, strict=True)
            _check_utf8(f"{path}, line 1", reader.fieldnames or ())
            reader.fieldnames = named_keys(f"{path}, line 1", reader.fieldnames or (), keys)
            lines.clear()
            for record in reader:
                place = f"{path}, line {reader.line_num + bool(said)}"
                _check_utf8(place, [record[key] for key in keys if record.get(key)])
                if None in record or None in record.values():
                    known = [value for key, value in record.items() if key is not None and value is not None]
                    fields = len(known) + len(record.get(None) or ())
                    expected = f"{len(reader.fieldnames or ())}, as in the header, separated by {separator!r}"
                    raise InputError(place, f"{fields} field{'s'[: fields != 1]}", expected)
                yield place, record | {name: None for name in nullable if record.get(name) == "" and bare(name)}
                lines.clear()
    except (csv.Error, *DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        place = f"{path}, after line {reader.line_num if reader else 0}"
        raise InputError(place, f"a table that can't be read ({error})", expected) from None


def _recorded(file: Iterable[str], lines: list[str]) -> Iterator[str]:
    for line in file:
        lines.append(line)
        yield line


def _separator(head: str, keys: Collection[str]) -> str:
    """Return the separator that finds the most ``keys`` in a header; the comma if it finds as many as any other."""
    found = {each: set(named_keys("", next(csv.reader([head], delimiter=each), []), keys, once=False)) & {*keys}
             for each in ",;\t"}  # fmt: skip
    return max(found, key=lambda each: len(found[each]))


def _check_utf8(place: str, texts: Iterable[str]) -> None:
    for text in texts:
        if escaped := _NO_UTF8.search(text):
            expected = "UTF-8 text (in Excel, save as CSV UTF-8)"
            raise InputError(place, f"byte {ord(escaped[0]) - 0xDC00:#04x} in {text!r}", expected)


def named_keys(place: str, names: Sequence[str], keys: Collection[str], once: bool = True) -> list[str]:
    """Return the column ``names``; a name that differs from a key only in case or spaces is replaced by the key.

    Raises InputError if one of ``keys`` occurs more than once, unless ``once`` is false.
    """
    known = {key.casefold(): key for key in keys if key not in names}
    found = [known.get("_".join(name.split()).casefold(), name) for name in names]
    for name in keys if once else ():
        if found.count(name) > 1:
            raise InputError(place, f"duplicate column {name!r}", "unique column names")
    return found


def name_of(place: str, key: str, value: object) -> str | None:
    """Return a record's ``value``, or None if the value is empty; raise InputError if it isn't a string."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(place, f"{key} {value!r}", "a name")
    return value


def whole_number(place: str, key: str, value: object) -> int | None:
    """Convert a record's ``value``, an integer or a string, to an integer; return None if ``value`` is empty."""
    if value is None or value == "":
        return None
    match = None if isinstance(value, bool) else _WHOLE.fullmatch(str(value))
    if match is None:
        raise InputError(place, f"{key} {value!r}", "a whole number")
    return int(match[1])
