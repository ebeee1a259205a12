"""Context use per query."""

import polars as pl


def mean_use(table: pl.DataFrame) -> pl.DataFrame:
    """Means over seeds: ordering, k, qid, context_use, text_change; null where no seed has a value."""
    return (
        table.sort("ordering", "k", "qid", "seed")
        .group_by("ordering", "k", "qid", maintain_order=True)
        .agg(pl.col("context_use", "text_change").drop_nulls())
        .with_columns(pl.col("context_use", "text_change").list.mean())
    )
