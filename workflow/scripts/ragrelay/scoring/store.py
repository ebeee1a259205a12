"""Store computed scores under the hashes of the answer and of its query's references."""

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
    """A scorer's store of scores, in the folder ``<cache_dir>/scores/<fingerprint>``.

    The columns are answer_hash (a hash of the text in NFC), references_hash (a hash of the query's reference texts, in
    order), and precision, recall and f1 (float32 lists with a value per reference, in the same order).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "scores" / fingerprint, SCHEMA, KEY)

    @contextmanager
    def writer(self, metadata: Mapping[str, str], flush_seconds: float) -> Iterator["ScoreWriter"]:
        """Open a writer that adds a part about every ``flush_seconds`` seconds and at the end, even after an error."""
        writer = ScoreWriter(self, metadata, flush_seconds)
        try:
            yield writer
        finally:
            writer.flush()


class ScoreWriter:
    """A writer that collects rows, and adds them to a store in parts. ``metadata`` is stored with each part."""

    def __init__(self, store: ScoreStore, metadata: Mapping[str, str], flush_seconds: float) -> None:
        self.store, self.metadata, self.flush_seconds = store, dict(metadata), flush_seconds
        self._rows: list[pl.DataFrame] = []
        self._flushed = time.monotonic()

    def add(self, rows: pl.DataFrame) -> None:
        """Collect ``rows`` (columns of SCHEMA). Flush if the last flush was at least ``flush_seconds`` seconds ago."""
        self._rows.append(rows.select(*SCHEMA).cast(SCHEMA))
        if time.monotonic() - self._flushed >= self.flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Write the collected rows, if any, to the store as a new part."""
        if self._rows:
            self.store.add(pl.concat(self._rows), self.metadata)
            self._rows = []
        self._flushed = time.monotonic()
