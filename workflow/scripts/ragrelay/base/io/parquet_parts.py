"""Store answers and scores in append-only Parquet files called parts, so that nothing is recomputed or lost.

Jobs on different nodes may add parts at the same time, because each part is written under a temporary name, then
renamed and never changed. If two jobs compute the same key at the same time, readers use the row in the earliest part.

Consecutive parts can be joined. A joined part keeps the timestamp of the first original part, so that readers still use
the same rows. A file ``<part>.json``, written before the joined part, lists the original parts. Readers ignore the
original parts as soon as the joined part exists. A day later, the original parts are removed.

To detect damage, a part's bytes are hashed when the part is added to the store's index (see part_index), and again by
each job that opens the part. Jobs only open the parts that contain the keys they need.
"""

import hashlib
import io
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import filterfalse
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic, write_json
from ragrelay.base.io.hashing import file_hash
from ragrelay.base.io.part_index import IndexedPart, key_hashes, part_keys, part_version, read_index, write_index

log = logging.getLogger(__name__)

HASH_DIGITS = 16
WRITTEN = "%Y%m%dT%H%M%S%f"
"""Format of a part's time of writing (UTC), which appears in the part's metadata and file name."""
# Parts to read together: enough to avoid one query for each of thousands of small parts, few enough to limit memory.
PARTS_AT_ONCE = 32
# Hashing waits for the disk or the network file system.
HASHING_THREADS = 8
JOINED_BYTES = 128 << 20
"""Maximum total size of the parts that are joined into one."""
GRACE = 24 * 60 * 60.0
"""Seconds until parts replaced by a joined part are removed. No reader takes this long between two reads of a part."""
SUMMED, PEAKS, FIRST = ("seconds", "tokens", "_tokens"), ("_mib",), ("start_seconds", "written")
"""How to join parts' metadata, by key ending: sum, maximum, or first value. Values of other keys must be equal."""


class PartStore:
    """A store in ``folder`` whose rows have the columns ``schema`` and are looked up by the columns ``key``.

    ``later``: columns that may be missing from older parts, in which case they are read as null. ``at_most``: maximum
    values, by column; reading a higher value raises InputError.
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
        self._indexed: dict[Path, IndexedPart] = {}
        self._unwritten = False

    def parts(self, keys: pl.DataFrame | None = None, latest: int = 0) -> list[Path]:
        """Return the paths of undamaged parts in chronological order. A damaged part is skipped, with a logged warning.

        Each part's hash is checked first, because reading a garbled Parquet file may crash the process.

        Args:
            keys: Only parts that contain at least one of these keys (barring hash collisions) are returned.
            latest: Number of most recent parts to return. 0 means no limit.
        """
        wanted = None if keys is None else key_hashes(keys, self.key)
        paths = self._indexed_paths()
        listings = {listing.with_suffix(".parquet"): listing for listing in self.folder.glob("part-*.json")}
        while True:
            known = [part for part in paths if part in self._indexed and self._checked.get(part, True)]
            replaced = {name for part in known if part in listings for name in _replaced(listings[part])}
            parts = [part for part in known if part.name not in replaced]
            parts = [part for part in parts if wanted is None or self._indexed[part].holds(wanted)][-latest:]
            with ThreadPoolExecutor(HASHING_THREADS) as threads:
                if all([*threads.map(self._readable, parts)]):
                    return parts
            # A part was garbled after it was indexed. The parts that it replaced count again.

    def _indexed_paths(self) -> list[Path]:
        """Return the paths of all parts, after adding new, undamaged ones to the index."""
        paths = sorted(self.folder.glob("part-*.parquet"))
        if new := [part for part in paths if part not in self._indexed and self._checked.get(part, True)]:
            index = read_index(self.folder, self.key)
            with ThreadPoolExecutor(HASHING_THREADS) as threads:
                found = threads.map(lambda part: self._index_of(part, index.get(part.name)), new)
                self._indexed |= {part: indexed for part, indexed in zip(new, found, strict=True) if indexed}
        if self._unwritten:
            known = {part.name: self._indexed[part] for part in paths if part in self._indexed}
            write_index(self.folder, self.key, known)
            self._unwritten = False
        return paths

    def _index_of(self, part: Path, known: IndexedPart | None) -> IndexedPart | None:
        """Return ``known`` if it describes this version of ``part``, otherwise read it. None if that fails."""
        try:
            version = part_version(part)
            if known and known.version == version:
                return known
            if not self._readable(part):
                return None
            indexed = IndexedPart(version, part_keys(part, self.key))
        except OSError as error:
            log.warning("%s: can't read this file (%s)", part, error)
            return None
        self._unwritten = True
        return indexed

    def join(self, most: int = JOINED_BYTES) -> tuple[int, int]:
        """Join consecutive parts with matching metadata into parts of up to ``most`` bytes.

        Returns the numbers of parts before and after joining. remove_replaced deletes the original parts later.
        """
        joined = made = 0
        for run in self._runs(most):
            described = _together([self.metadata(part) for part in run])
            rows = pl.concat([pl.read_parquet(part, glob=False) for part in run])
            rows = rows.unique(self.key, keep="first", maintain_order=True)
            path, content = self._packed(rows, described, run[0].stem.split("-")[1])
            listings = [listing for part in run if (listing := part.with_suffix(".json")).exists()]
            names = {part.name for part in run}.union(*map(_replaced, listings)) - {path.name}
            write_json(sorted(names), path.with_suffix(".json"))
            self._write(content, path, rows)
            joined, made = joined + len(run), made + 1
        self._indexed_paths()
        return joined, made

    def remove_replaced(self, grace: float = GRACE) -> tuple[int, int]:
        """Remove parts replaced over ``grace`` seconds ago. Returns how many were removed and how many are waiting."""
        removed = waiting = 0
        for listing in sorted(self.folder.glob("part-*.json")):
            part, names = listing.with_suffix(".parquet"), _replaced(listing)
            if time.time() - listing.stat().st_mtime < grace or (part.exists() and damage(part)):
                waiting += len(names)
                continue
            if part.exists():
                for name in names:
                    (self.folder / name).unlink(missing_ok=True)
                removed += len(names)
            listing.unlink()
        return removed, waiting

    def _runs(self, most: int) -> Iterator[list[Path]]:
        """Yield groups of two or more consecutive parts to join, so that the same rows count as before."""
        run: list[Path] = []
        size, origin = 0, None
        for part in self.parts():
            bytes_more, of_part = part.stat().st_size, (pl.read_parquet_schema(part), _origin(self.metadata(part)))
            if run and (of_part != origin or size + bytes_more > most):
                if len(run) > 1:
                    yield run
                run, size = [], 0
            run, size, origin = [*run, part], size + bytes_more, of_part
        if len(run) > 1:
            yield run

    def add(self, rows: pl.DataFrame, metadata: Mapping[str, str]) -> Path:
        """Write ``rows`` (with the schema's columns) as a new part with ``metadata``, and return the part's path.

        A part's name ends with a hash of its bytes, because Parquet's own checks miss some damaged pages. The part is
        added to the index the next time any job uses the store.
        """
        path, content = self._packed(rows, metadata, datetime.now(UTC).strftime(WRITTEN))
        self._write(content, path, rows)
        return path

    def _write(self, content: bytes, path: Path, rows: pl.DataFrame) -> None:
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        self._indexed[path] = IndexedPart(part_version(path), key_hashes(rows, self.key))
        self._unwritten = True

    def _packed(self, rows: pl.DataFrame, metadata: Mapping[str, str], written: str) -> tuple[Path, bytes]:
        buffer = io.BytesIO()
        rows.write_parquet(buffer, compression="zstd", metadata={**metadata, "written": written})
        content = buffer.getvalue()
        path = self.folder / f"part-{written}-{hashlib.sha256(content).hexdigest()[:HASH_DIGITS]}.parquet"
        return path, content

    def held(self, keys: pl.DataFrame, parts: Sequence[Path] | None = None) -> pl.DataFrame:
        """Return the distinct ``keys`` found in the store. The column ``part`` contains each key's earliest part.

        ``parts``: the parts to search; defaults to ``parts(keys)``. Only the key columns are read, as a stream, so
        finding 200,000 keys among 2 million rows takes seconds and about 200 MiB.
        """
        wanted = keys.select(self.key).unique()
        parts = self.parts(wanted) if parts is None else list(parts)
        if not parts or wanted.is_empty():
            return pl.DataFrame(schema={**{name: self.schema[name] for name in self.key}, "part": pl.String})
        scan = self.scan(parts, self.key)
        rows = scan.join(wanted.lazy(), on=self.key, how="semi").collect(engine="streaming")
        return rows.sort("part").unique(self.key, keep="first", maintain_order=True)

    def read(self, located: pl.DataFrame, columns: Sequence[str] = ()) -> pl.DataFrame:
        """Return the stored rows for the keys in ``located`` (rows returned by ``held``), in no particular order.

        The result contains the key columns and ``columns`` (by default, all columns). Raises InputError if a part has
        disappeared or is damaged, or if a value exceeds ``at_most``.
        """
        wanted = [name for name in self.schema if not columns or name in columns or name in self.key]
        frames = [pl.DataFrame(schema={name: self.schema[name] for name in wanted})]
        for some in _batches(located):
            parts = some["part"].unique(maintain_order=True).to_list()
            for part in filterfalse(self._readable, map(Path, parts)):
                raise InputError(part, "changed bytes", "an unchanged file; run the same command again")
            scan = self.scan(parts, wanted)
            # Filter by the first key column before the join, so that other columns are only decoded for these rows.
            near = scan.filter(pl.col(self.key[0]).is_in(some[self.key[0]].unique().implode()))
            try:
                # Not streamed, because streaming filters keep every decoded text in memory.
                rows = near.join(some.lazy(), on=[*self.key, "part"], how="semi").collect(engine="in-memory")
            except (pl.exceptions.PolarsError, OSError) as error:
                lost = f"a part that disappeared during the job ({str(error).splitlines()[0]})"
                raise InputError(self.folder, lost, "a store from which nothing is deleted during the job") from error
            self._check_values(rows)
            if len(rows) > len(some):
                rows = rows.unique(self.key, keep="first", maintain_order=True)
            frames.append(rows.select(wanted))
        return pl.concat(frames)

    def metadata(self, part: str | Path) -> dict[str, str]:
        """Return a part's metadata, such as engine, version, device, seconds, and ``written`` (the time of writing)."""
        raw = pq.read_metadata(part).metadata or {}
        return {key.decode(): value.decode() for key, value in raw.items() if not key.startswith(b"ARROW")}

    def scan(self, parts: list[Path] | list[str], columns: Sequence[str]) -> pl.LazyFrame:
        """Lazily read ``columns`` from ``parts``, and add a column ``part`` with the path of each row's part."""
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
        """Return whether ``part`` is complete and has this store's columns. Checked once, as parts never change."""
        if part not in self._checked:
            reason = damage(part) or self._wrong_columns(part)
            if reason:
                log.warning("%s: damaged part (%s); its rows will be recomputed, so you can delete it", part, reason)
            self._checked[part] = not reason
        return self._checked[part]

    def _wrong_columns(self, part: Path) -> str:
        """Describe how a part's columns differ from this store's. A complete part may belong to another store."""
        try:
            schema = pl.read_parquet_schema(part)
        except (OSError, pl.exceptions.PolarsError) as error:
            return str(error).splitlines()[0]
        names = dict.fromkeys([*self.schema, *schema])
        wrong = [name for name in names if schema.get(name) != self.schema.get(name)]
        wrong = [name for name in wrong if name in schema or name not in self.later]
        return f"other columns than this store's: {', '.join(wrong)}" if wrong else ""


def damage(part: Path) -> str:
    """Return why ``part`` is damaged (unreadable or changed), or an empty string if the part is undamaged."""
    try:
        whole = file_hash(part)[:HASH_DIGITS] == part.stem.rpartition("-")[2]
    except OSError as error:
        return str(error)
    return "" if whole else "its bytes do not hash to its name"


def _replaced(listing: Path) -> list[str]:
    """Return the names of the parts that a joined part replaces; none if the listing can't be read."""
    try:
        names = json.loads(listing.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.warning("%s: can't read this file (%s)", listing, error)
        return []
    return [name for name in names if Path(name).match("part-*.parquet") and Path(name).name == name]


def _origin(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata in which parts must agree to be joined."""
    return {key: value for key, value in metadata.items() if key not in FIRST and not key.endswith((*SUMMED, *PEAKS))}


def _together(described: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Merge the metadata ``described`` of several parts into the joined part's metadata."""
    joined = {}
    for key in dict.fromkeys(key for metadata in described for key in metadata):
        values = [metadata[key] for metadata in described if key in metadata]
        joined[key] = values[0]
        if key.endswith(PEAKS):
            joined[key] = max(values, key=float)
        elif key.endswith(SUMMED) and key not in FIRST:
            joined[key] = f"{sum(map(float, values)):.2f}" if key == "seconds" else str(sum(map(int, values)))
    return joined


def _batches(located: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Split ``located`` (which has a column ``part``) into pieces of PARTS_AT_ONCE parts, earliest first."""
    number = pl.col("part").rle_id() // PARTS_AT_ONCE
    for _, piece in located.sort("part").group_by(number.alias("batch"), maintain_order=True):
        yield piece
