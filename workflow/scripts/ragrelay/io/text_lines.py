"""Lines of a text file, plain or gzipped, with what goes wrong named by line."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from ragrelay.errors import InputError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end); a byte-order mark and CRLF are taken off, blank lines left out.

    Raises InputError where the file is missing, not UTF-8, or a damaged .gz.
    """
    if not path.is_file():
        raise InputError(path, "no such file", "a text file")
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield number, line
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}", f"byte {error.object[error.start]:#04x}", "UTF-8 text") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}, after line {number}", f"damaged gzip data ({error})", "a whole .gz file") from None
