"""Store every processed text under a hash of its inputs."""

from pathlib import Path

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore

KEY = ["given_hash"]
SCHEMA = pl.Schema([("given_hash", pl.String()), ("docnos", pl.List(pl.String())), ("texts", pl.List(pl.String()))])
SAME_AGAIN = "same_again"
"""Key of a part's metadata: `true` if a sample of its rows came out the same when made again, else `false`."""
ORDER = "order"
"""Key of the metadata of parts whose rows have the order that the processor returned; older ones have the ranking's."""


class ProcessedStore(PartStore):
    """The texts of one processor, in folder ``<cache_dir>/processed/<fingerprint>``.

    Columns: given_hash (of the query's text and the passages' docnos and texts); docnos and texts of the shown
    passages, in the processor's order.
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "processed" / fingerprint, SCHEMA, KEY)

    def held_in_order(self, keys: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
        """Like ``held``, with ORDER parts first; also return keys of rows with several texts in parts without ORDER."""
        parts = self.parts(keys)
        ordered = [part for part in parts if ORDER in self.metadata(part)]
        held = self.held(keys, ordered)
        older = self.held(keys.join(held, on=KEY, how="anti"), [part for part in parts if part not in ordered])
        several = self.read(older, ["docnos"]).filter(pl.col("docnos").list.len() > 1)
        return pl.concat([held, older]), set(several[KEY[0]])
