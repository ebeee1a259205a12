"""Store every computed score by answer and its query's references."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore

KEY = ["answer_hash", "references_hash"]
VALUES = ["precision", "recall", "f1"]
SCHEMA = pl.Schema([(name, pl.String()) for name in KEY] + [(name, pl.List(pl.Float32)) for name in VALUES])


class ScoreStore(PartStore):
    """The scores of one scorer, in the folder ``<cache_dir>/scores/<fingerprint>``.

    Columns: answer_hash (text_hash of the composed answer), references_hash (hash of a query's reference texts in
    order); precision, recall, f1: lists of float32, one value per reference in that order.
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "scores" / fingerprint, SCHEMA, KEY)

    @contextmanager
    def writer(self, metadata: Mapping[str, str], flush_seconds: float) -> Iterator["ScoreWriter"]:
        """Open a writer that appends a part about every ``flush_seconds`` and at the end, even after an error."""
        writer = ScoreWriter(self, metadata, flush_seconds)
        try:
            yield writer
        finally:
            writer.flush()


class ScoreWriter:
    """Collects rows and adds them to ``store`` as parts with ``metadata``."""

    def __init__(self, store: ScoreStore, metadata: Mapping[str, str], flush_seconds: float) -> None:
        self.store, self.metadata, self.flush_seconds = store, dict(metadata), flush_seconds
        self._rows: list[pl.DataFrame] = []
        self._flushed = time.monotonic()

    def add(self, rows: pl.DataFrame) -> None:
        """Add ``rows`` (columns of SCHEMA), which the next flush writes to disk."""
        self._rows.append(rows.select(*SCHEMA).cast(SCHEMA))
        if time.monotonic() - self._flushed >= self.flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Write the collected rows as a new part, if there are any."""
        if self._rows:
            self.store.add(pl.concat(self._rows), self.metadata)
            self._rows = []
        self._flushed = time.monotonic()
