"""Read the lines of a text file, plain or compressed; errors name the line."""

import re
from collections.abc import Iterator
from pathlib import Path

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import check_id
from ragrelay.base.io.compressed_files import DAMAGE, open_bytes

_BLANKS = " \t"
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
"""A field as programs write it that quote: quotation marks around it, and those in it doubled."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end), without a byte-order mark and blank lines.

    Raises InputError if the file is missing, not UTF-8, or damaged, or if a line contains a carriage return: a
    file with only these as line ends would be one line.
    """
    if not path.is_file():
        raise InputError(path, "no such file", "a text file")
    number = 0
    try:
        with open_bytes(path) as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if "\r" in line:
                    raise InputError(f"{path}, line {number}", "a carriage return in the line", "LF or CRLF at its end")
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}", f"byte {error.object[error.start]:#04x}", "UTF-8 text") from None
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        place, kind = f"{path}, after line {number}", path.suffix.lower()
        raise InputError(place, f"damaged {kind} data ({error})", f"a complete {kind} file") from None


def trec_lines(path: Path, *names: str, header: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, fields) of a file in TREC's format, whose columns ``names`` are split at blanks.

    ``header``: skip comments before the first row, lines that are ``#`` or begin with ``#`` and a blank. Raises
    InputError as numbered_lines does, and for another number of columns or an invisible character.
    """
    for number, line in numbered_lines(path):
        if header and (line == "#" or line.startswith(("# ", "#\t"))):
            continue
        header = False
        plain = line.isascii() and line.replace("\t", " ").isprintable()
        # Python counts more characters as blanks than trec_eval does, such as U+00A0.
        fields = line.split() if plain else re.split(f"[{_BLANKS}]+", line.strip(_BLANKS))
        if len(fields) != len(names):
            expected = f"{len(names)}: {', '.join(names)}"
            raise InputError(f"{path}, line {number}", f"{len(fields)} columns", expected)
        if not plain:
            for name, field in zip(names, fields, strict=True):
                check_id(f"{path}, line {number}", name, field)
        yield number, fields


def tsv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, fields) of a file of tab-separated values, its header first.

    It has no quoting, as at TREC and MS MARCO: quotation marks are text. Raises InputError as numbered_lines does, for
    a row whose number of fields is not the header's, and for a field with doubled quotation marks inside quotation
    marks, as in CSV.
    """
    columns = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        columns = columns or len(fields)
        if len(fields) != columns:
            expected = (
                f"{columns} as in the header; a field with a tab or a line end needs CSV, since TSV has no quoting"
            )
            raise InputError(f"{path}, line {number}", f"{len(fields)} fields", expected)
        if quoted := next(filter(_QUOTED.fullmatch, fields), None):
            expected = "a TSV without quoting (its quotation marks belong to the text), or the table as CSV"
            raise InputError(f"{path}, line {number}", f"the field {quoted[:80]} quoted as in CSV", expected)
        yield number, fields
