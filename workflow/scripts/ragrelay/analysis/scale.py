"""Clip intervals for mean differences to the range that the scores' scale allows."""

import math

import polars as pl

LEAST, MOST = -1e-6, 1.0 + 1e-6
"""The ends of a scale from 0 to 1, with a margin for rounding: BERTScore of equal texts may be slightly above 1."""


def scaled(scores: pl.DataFrame, *columns: str) -> bool:
    """Return whether all values in ``columns`` are between 0 and 1, so that mean differences are between −1 and 1."""
    return bool(scores.select(pl.all_horizontal(pl.col(*columns).is_between(LEAST, MOST).all())).item())


def cut(tests: pl.DataFrame, where: pl.Expr | bool) -> pl.DataFrame:
    """Clip the intervals in ``tests`` to [−1, 1] in the rows selected by ``where``."""
    limit = pl.when(where).then(1.0).otherwise(math.inf)
    return tests.with_columns(pl.col("^(verdict_|equal_length_)?(low|high)$").clip(-limit, limit))
