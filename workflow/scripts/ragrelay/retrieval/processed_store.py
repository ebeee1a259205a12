"""Keep every processed text, by what it was made of."""

from pathlib import Path

import polars as pl

from ragrelay.base.io.parquet_parts import PartStore

KEY = ["given_hash"]
SCHEMA = pl.Schema([("given_hash", pl.String()), ("docnos", pl.List(pl.String())), ("texts", pl.List(pl.String()))])
SAME_AGAIN = "same_again"
"""Key of a part's metadata: `true` if a sample of its rows came out the same when made again, else `false`."""


class ProcessedStore(PartStore):
    """The texts of one processor, in folder ``<cache_dir>/processed/<fingerprint>``.

    Columns: given_hash (of the query's text and the passages' docnos and texts); docnos and texts of what is shown.
    """

    def __init__(self, cache_dir: str | Path, fingerprint: str) -> None:
        super().__init__(Path(cache_dir) / "processed" / fingerprint, SCHEMA, KEY)
