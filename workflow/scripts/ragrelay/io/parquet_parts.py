"""Append-only Parquet parts: answers and scores are kept so that nothing is made twice and no job's death loses work.

Several jobs on several nodes may append at once: a part is written under a temporary name and renamed, and parts are
never changed. Jobs that run at the same time may both make a key; readers then take the earliest part's.
"""

import hashlib
import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.errors import InputError
from ragrelay.io.atomic_files import atomic
from ragrelay.io.hashing import file_hash

log = logging.getLogger(__name__)

HASH_DIGITS = 16
WRITTEN = "%Y%m%dT%H%M%S%f"
"""How a part's metadata and name say when it was written, UTC."""
# Parts read in one go: enough that thousands of small parts cost no query each, few enough to bound memory.
PARTS_AT_ONCE = 32
# Hashing waits for the disk, and on a network file system for its answers.
HASHING_THREADS = 8


class PartStore:
    """Rows of ``schema`` in ``folder``, found by the columns ``key``.

    ``later``: columns that came to the schema after parts had been written without them; they are null there.
    ``at_most``: the highest value of columns that have one; a part with another was not written by this store.
    """

    def __init__(
        self,
        folder: Path,
        schema: Mapping[str, pl.DataType | type[pl.DataType]],
        key: list[str],
        later: Sequence[str] = (),
        at_most: Mapping[str, float] | None = None,
    ) -> None:
        self.folder, self.schema, self.key, self.later = folder, pl.Schema(schema), key, later
        self.at_most = at_most or {}
        self._checked: dict[Path, bool] = {}

    def parts(self) -> list[Path]:
        """Readable parts, earliest first (names start with the time); damaged ones are left out with a warning.

        Bytes are hashed before anything else reads them: what a garbled Parquet file makes of a reader is not known.
        """
        found = sorted(self.folder.glob("part-*.parquet"))
        with ThreadPoolExecutor(HASHING_THREADS) as threads:
            return [part for part, whole in zip(found, threads.map(self._readable, found), strict=True) if whole]

    def add(self, rows: pl.DataFrame, metadata: Mapping[str, str]) -> Path:
        """Write ``rows`` (columns of the schema) as one more part with ``metadata``; returns its path.

        A part's name ends with a hash of its bytes: Parquet's own checks let some damaged pages pass as other values.
        """
        now = datetime.now(UTC).strftime(WRITTEN)
        buffer = io.BytesIO()
        rows.write_parquet(buffer, compression="zstd", metadata={**metadata, "written": now})
        content = buffer.getvalue()
        path = self.folder / f"part-{now}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}.parquet"
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        return path

    def held(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Those of ``keys`` that are in the store, each once, with the ``part`` that counts: the earliest.

        Only key columns are read, as a stream: 200,000 keys among 2 million rows take seconds and some 200 MiB.
        """
        wanted, parts = keys.select(self.key).unique(), self.parts()
        if not parts or wanted.is_empty():
            return pl.DataFrame(schema={**{name: self.schema[name] for name in self.key}, "part": pl.String})
        scan = self.scan(parts, self.key)
        found = scan.join(wanted.lazy(), on=self.key, how="semi").collect(engine="streaming")
        return found.sort("part").unique(self.key, keep="first", maintain_order=True)

    def read(self, located: pl.DataFrame, columns: Sequence[str] = ()) -> pl.DataFrame:
        """The stored rows of ``located``, a selection of what ``held`` returned; each once, without order.

        Of the columns those of the key and ``columns``, or all. Raises InputError where a part has gone since, or a
        value is beyond ``at_most``.
        """
        wanted = [name for name in self.schema if not columns or name in columns or name in self.key]
        found = [pl.DataFrame(schema={name: self.schema[name] for name in wanted})]
        for some in _batches(located):
            parts = some["part"].unique(maintain_order=True).to_list()
            scan = self.scan(parts, wanted)
            # Filtered by the first key before the join, so that the other columns are decoded for those rows alone.
            near = scan.filter(pl.col(self.key[0]).is_in(some[self.key[0]].unique().implode()))
            try:
                # Not as a stream, whose filters keep every decoded text in memory.
                rows = near.join(some.lazy(), on=[*self.key, "part"], how="semi").collect(engine="in-memory")
            except (pl.exceptions.PolarsError, OSError) as error:
                lost = f"a part lost since it was looked at ({str(error).splitlines()[0]})"
                raise InputError(self.folder, lost, "a store that is left alone") from error
            self._check_values(rows)
            if len(rows) > len(some):
                rows = rows.unique(self.key, keep="first", maintain_order=True)
            found.append(rows.select(wanted))
        return pl.concat(found)

    def metadata(self, part: str | Path) -> dict[str, str]:
        """What a part was written with, such as engine, version, device and seconds, and the time (``written``)."""
        raw = pq.read_metadata(part).metadata or {}
        return {key.decode(): value.decode() for key, value in raw.items() if not key.startswith(b"ARROW")}

    def scan(self, parts: list[Path] | list[str], columns: Sequence[str]) -> pl.LazyFrame:
        """``columns`` of all rows of ``parts``, and the ``part`` of each."""
        scan = pl.scan_parquet(
            parts, schema=self.schema, missing_columns="insert", include_file_paths="part", glob=False
        )
        return scan.select(*columns, "part")

    def _check_values(self, rows: pl.DataFrame) -> None:
        for name in self.at_most.keys() & rows.columns:
            beyond = ~(pl.col(name) <= self.at_most[name])  # NaN too
            for part in rows.filter(beyond).sort("part")["part"].head(1):
                column = pl.read_parquet(part, columns=[name], glob=False).with_row_index("row", 1)
                row, value = column.filter(beyond).row(0)
                raise InputError(f"{part}, row {row}, column {name}", str(value), f"at most {self.at_most[name]:g}")

    def _readable(self, part: Path) -> bool:
        """Whether ``part`` is whole and has this store's columns; parts never change, so each is looked at once."""
        if part not in self._checked:
            reason = damage(part) or self._wrong_columns(part)
            if reason:
                log.warning("%s: found a damaged part (%s); its rows are made again, it may be deleted", part, reason)
            self._checked[part] = not reason
        return self._checked[part]

    def _wrong_columns(self, part: Path) -> str:
        """Which columns of ``part`` are not this store's; that it is whole does not say that it belongs here."""
        try:
            found = pl.read_parquet_schema(part)
        except (OSError, pl.exceptions.PolarsError) as error:
            return str(error).splitlines()[0]
        names = dict.fromkeys([*self.schema, *found])
        wrong = [name for name in names if found.get(name) != self.schema.get(name)]
        wrong = [name for name in wrong if name in found or name not in self.later]
        return f"other columns than this store's: {', '.join(wrong)}" if wrong else ""


def damage(part: Path) -> str:
    """Why ``part`` can't be read or doesn't have the bytes it was written with; empty where it is whole."""
    try:
        whole = file_hash(part)[:HASH_DIGITS] == part.stem.rpartition("-")[2]
    except OSError as error:
        return str(error)
    return "" if whole else "its bytes do not hash to its name"


def _batches(located: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """``located`` (with ``part``) in pieces of PARTS_AT_ONCE parts, earliest first."""
    number = pl.col("part").rle_id() // PARTS_AT_ONCE
    for _, piece in located.sort("part").group_by(number.alias("batch"), maintain_order=True):
        yield piece
