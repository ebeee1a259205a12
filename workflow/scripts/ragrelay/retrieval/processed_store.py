"""Store the texts that processors return, under a hash of the processors' inputs."""

from pathlib import Path

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore

KEY = ["given_hash"]
SCHEMA = pl.Schema([("given_hash", pl.String()), ("docnos", pl.List(pl.String())), ("texts", pl.List(pl.String()))])
SAME_AGAIN = "same_again"
"""Metadata key of a part (file): `true` if a sample of its rows was the same when processed twice, else `false`."""
ORDER = "order"
"""Metadata key of parts that list passages in the processor's order. Older parts list them in the ranking's order."""


class ProcessedStore(PartStore):
    """The texts returned by one processor, in the folder ``<cache_dir>/processed/<fingerprint>``.

    Columns: given_hash (a hash of the query's text and the passages' docnos and texts), docnos and texts (of the
    passages to show, in the processor's order).
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "processed" / fingerprint, SCHEMA, KEY)

    def held_in_order(self, keys: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
        """Return the stored rows for ``keys``, and the keys of rows that don't record the processor's passage order."""
        parts = self.parts(keys)
        ordered = [part for part in parts if ORDER in self.metadata(part)]
        held = self.held(keys, ordered)
        older = self.held(keys.join(held, on=KEY, how="anti"), [part for part in parts if part not in ordered])
        several = self.read(older, ["docnos"]).filter(pl.col("docnos").list.len() > 1)
        return pl.concat([held, older]), set(several[KEY[0]])
