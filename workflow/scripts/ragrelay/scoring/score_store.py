"""The score store: append-only Parquet parts, so that no pair of answer and references is scored twice.

Several jobs on several nodes may append at once, as to the answer store: a part is written under a temporary name and
renamed, and never changed. Jobs that run at the same time may both score a pair; readers take the earliest part's.
"""

import logging
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from ragrelay.errors import InputError
from ragrelay.files import write_parquet

log = logging.getLogger(__name__)

KEY = ["answer_hash", "references_hash"]
VALUES = ["precision", "recall", "f1"]
SCHEMA = pl.Schema([(name, pl.String()) for name in KEY] + [(name, pl.List(pl.Float32)) for name in VALUES])


class ScoreStore:
    """The scores of one scorer, in folder ``<cache_dir>/scores/<fingerprint>``.

    Columns: answer_hash (text_hash of the answer), references_hash (of the ordered texts of a query's references);
    precision, recall, f1: lists of float32, one value per reference in that order.
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        self.folder = Path(cache_dir) / "scores" / fingerprint
        self._damaged: set[Path] = set()
        self._sound: set[Path] = set()

    def parts(self) -> list[Path]:
        """Parts not known to be damaged, earliest first: their names start with the time."""
        return [part for part in sorted(self.folder.glob("part-*.parquet")) if part not in self._damaged]

    def held(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Those of ``pairs`` (answer_hash, references_hash) that the store holds, with their earliest sound ``part``.

        A part that can't be read is left out with a warning, so that its scores are made again.
        """
        missing, found = pairs.select(KEY).unique(), []
        for part in self.parts():
            if missing.is_empty():
                break
            try:
                keys = pl.scan_parquet(part, glob=False).select(KEY)
                here = keys.join(missing.lazy(), on=KEY, how="semi").unique().collect()
                if here.is_empty():
                    continue
                if part not in self._sound:
                    # Once through all pages: a part that holds the keys but not the scores must not count.
                    pl.scan_parquet(part, glob=False).select(pl.col(VALUES).list.sum().sum()).collect()
                    self._sound.add(part)
            except (pl.exceptions.PolarsError, OSError) as error:
                self._damaged.add(part)
                reason = str(error).splitlines()[0]
                log.warning("%s: found a damaged part (%s); its scores are made again, it may be deleted", part, reason)
                continue
            found.append(here.with_columns(part=pl.lit(str(part))))
            missing = missing.join(here, on=KEY, how="anti")
        return pl.concat(found) if found else pl.DataFrame(schema={**dict.fromkeys(KEY, pl.String), "part": pl.String})

    def read(self, located: pl.DataFrame) -> pl.DataFrame:
        """The stored rows of ``located``, a selection of what ``held`` gave; each once, without order.

        Raises InputError where a part has gone or was damaged since.
        """
        found = [pl.DataFrame(schema=SCHEMA)]
        for (part,), pairs in located.group_by("part", maintain_order=True):
            try:
                scan = pl.scan_parquet(str(part), glob=False).select(*SCHEMA)
                rows = scan.join(pairs.lazy(), on=KEY, how="semi").collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                lost = f"a part lost since ({str(error).splitlines()[0]})"
                raise InputError(str(part), lost, "a store that is left alone") from error
            found.append(rows.unique(KEY, keep="first", maintain_order=True))
        return pl.concat(found)

    @contextmanager
    def writer(self, metadata: Mapping[str, str], flush_seconds: float) -> Iterator["ScoreWriter"]:
        """A writer that appends a part about every ``flush_seconds`` and at the end, also when an error ends it."""
        writer = ScoreWriter(self.folder, metadata, flush_seconds)
        try:
            yield writer
        finally:
            writer.flush()


class ScoreWriter:
    """Gathers rows and appends them to a store's folder as parts with ``metadata``."""

    def __init__(self, folder: Path, metadata: Mapping[str, str], flush_seconds: float) -> None:
        self.folder, self.metadata, self.flush_seconds = folder, dict(metadata), flush_seconds
        self._rows: list[pl.DataFrame] = []
        self._flushed = time.monotonic()

    def add(self, rows: pl.DataFrame) -> None:
        """Take ``rows`` (columns of SCHEMA); they are on disk after the next flush."""
        self._rows.append(rows.select(*SCHEMA).cast(SCHEMA))
        if time.monotonic() - self._flushed >= self.flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered as one more part; nothing where there is nothing."""
        if self._rows:
            now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            path = self.folder / f"part-{now}-{uuid.uuid4().hex[:12]}.parquet"
            write_parquet(pl.concat(self._rows), path, metadata={**self.metadata, "written": now})
            self._rows = []
        self._flushed = time.monotonic()
