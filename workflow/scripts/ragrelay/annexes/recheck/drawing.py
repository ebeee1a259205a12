"""Draw a reproducible random sample of stored answers, stratified by retriever and k."""

import polars as pl

from ragrelay.base.io.hashing import text_hash

STRATUM = ("retriever", "k")
"""Zero-shot answers share a retriever and k, so they are one stratum."""


def draw(keys: pl.DataFrame, number: int) -> pl.DataFrame:
    """Draw ``number`` rows from ``keys`` (or all rows if there are fewer), and return the rows in the original order.

    ``keys`` has columns prompt_id, seed, retriever, k, … The number of rows drawn from a stratum (STRATUM) is
    proportional to the stratum's size, rounded by the largest-remainder method; ties are broken by hash. Within a
    stratum, the rows with the lowest hashes of prompt_id and seed are drawn.
    """
    if keys.height <= number:
        return keys
    hashes = [
        text_hash(f"recheck {prompt_id} {seed}") for prompt_id, seed in keys.select("prompt_id", "seed").iter_rows()
    ]
    ordered = keys.with_row_index("place").with_columns(hash=pl.Series(hashes)).sort("hash")
    sizes = ordered.group_by(STRATUM, maintain_order=True).agg(rows=pl.len().cast(pl.Int64))
    share = pl.col("rows") * number
    sizes = sizes.with_columns(drawn=share // keys.height, rest=share % keys.height)
    more = number - int(sizes["drawn"].sum())
    place = pl.col("rest").rank("ordinal", descending=True)
    sizes = sizes.with_columns(drawn=pl.col("drawn") + (place <= more))
    rank = pl.int_range(pl.len()).over(STRATUM)
    chosen = ordered.join(sizes, on=STRATUM, maintain_order="left").filter(rank < pl.col("drawn"))
    return chosen.sort("place").select(keys.columns)
