"""Open plain or compressed files. The suffix, in upper or lower case, determines the compression."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, OSError)
"""Errors that may be raised when reading damaged data."""
PIECE = 1 << 16
"""Bytes to read at a time."""


def plain_name(name: str) -> str:
    """Return the lower-case file name without its compression suffix, such as ``.gz``."""
    lower = name.lower()
    return lower.removesuffix(next(filter(lower.endswith, COMPRESSED), ""))


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file to read its decompressed content. Reading damaged data raises one of the errors in DAMAGE."""
    ending = path.suffix.lower()
    if ending in COMPRESSED and path.stat().st_size == 0:
        raise EOFError("an empty file")
    if ending == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if ending in STREAMS:
        return io.BufferedReader(_Streams(path.open("rb"), STREAMS[ending]))
    if ending == ".zst":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"))
    return path.open("rb")


class _Streams(io.RawIOBase):
    """The content of a file's compressed streams, which may be padded with zero bytes.

    Python's own readers silently stop at bytes that don't begin a stream, for example after a flipped bit.
    """

    def __init__(self, file: IO[bytes], new_stream: Callable[[], Any]) -> None:
        self._file, self._new_stream, self._stream = file, new_stream, new_stream()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = b""
        while not found:
            piece = b""
            if self._stream.eof:
                piece = self._stream.unused_data.lstrip(b"\0")
                while not piece:
                    if not (read := self._file.read(PIECE)):
                        return 0
                    piece = read.lstrip(b"\0")
                self._stream = self._new_stream()
            elif self._stream.needs_input and not (piece := self._file.read(PIECE)):
                raise EOFError("the file ends within a stream")
            found = self._stream.decompress(piece, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()


STREAMS: dict[str, Callable[[], Any]] = {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}
"""Decompressors for a single stream, by suffix."""
