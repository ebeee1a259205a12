"""Open files that may be compressed, by the ends of their names in any case."""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO, cast

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, OSError)
"""What reading damaged data raises."""


def plain_name(name: str) -> str:
    """Return a file's name in lower case, without the end that says how it is compressed."""
    lower = name.lower()
    return lower.removesuffix(next(filter(lower.endswith, COMPRESSED), ""))


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed. Reading damaged data raises one of DAMAGE."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if ending == ".bz2":
        return bz2.open(path, "rb")
    if ending == ".xz":
        return lzma.open(path, "rb")
    if ending == ".zst":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"))
    return path.open("rb")
