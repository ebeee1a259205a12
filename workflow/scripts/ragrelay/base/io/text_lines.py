"""Read the lines of plain or compressed text files, with errors that name the line."""

import re
from collections.abc import Iterator
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.compressed_files import DAMAGE, open_bytes

_BLANKS = " \t"
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
"""A quoted field: enclosed in quotation marks, with any quotation marks inside doubled."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line's number (from 1) and text, skipping a byte-order mark and blank lines.

    Raises InputError if the file is missing, damaged or not UTF-8. A carriage return within a line also raises
    InputError, because a file with carriage returns as line ends would be read as a single line.
    """
    if not path.is_file():
        raise InputError(path, "no such file", "a text file")
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if "\r" in line:
                    raise InputError(f"{path}, line {number}", "a carriage return in the line", "LF or CRLF line ends")
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}", f"byte {error.object[error.start]:#04x}", "UTF-8 text") from None
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        place, kind = f"{path}, after line {number}" if number else path, path.suffix.lower()
        raise InputError(place, f"damaged {kind} data ({error})", f"a complete {kind} file") from None


def trec_lines(path: Path, *names: str, header: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number (from 1) and fields from a TREC file with whitespace-separated columns ``names``.

    ``header``: whether to skip leading comments, which are ``#`` alone or begin with ``#`` and a space. Raises
    InputError for an unreadable file, a stray carriage return, a wrong number of columns or an invisible character.
    """
    for number, line in numbered_lines(path):
        if header and (line == "#" or line.startswith(("# ", "#\t"))):
            continue
        header = False
        plain = line.isascii() and line.replace("\t", " ").isprintable()
        # Python treats more characters as whitespace than trec_eval does, for example U+00A0.
        fields = line.split() if plain else re.split(f"[{_BLANKS}]+", line.strip(_BLANKS))
        if len(fields) != len(names):
            expected = f"{len(names)}: {', '.join(names)}"
            raise InputError(f"{path}, line {number}", f"{len(fields)} column{'s'[: len(fields) != 1]}", expected)
        if not plain:
            for name, field in zip(names, fields, strict=True):
                check_id(f"{path}, line {number}", name, field)
        yield number, fields


def tsv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number (from 1) and fields from a file of tab-separated values, including the header line.

    As in files from TREC and MS MARCO, quotation marks have no special meaning. Raises InputError for an unreadable
    file, a carriage return within a line, a row with more or fewer fields than the header, or a field quoted as in CSV
    (with doubled quotation marks inside).
    """
    columns = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        columns = columns or len(fields)
        if len(fields) != columns:
            expected = (
                f"{columns}, as in the header; use CSV for fields with tabs or line breaks, as TSV has no quoting"
            )
            raise InputError(f"{path}, line {number}", f"{len(fields)} field{'s'[: len(fields) != 1]}", expected)
        if quoted := next(filter(_QUOTED.fullmatch, fields), None):
            expected = "TSV without quoting (quotation marks are part of the text), or a CSV file"
            raise InputError(f"{path}, line {number}", f"the field {quoted[:80]} quoted as in CSV", expected)
        yield number, fields
