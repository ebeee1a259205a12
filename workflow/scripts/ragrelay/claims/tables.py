"""The analysis of a claims study: all its pairs, of every set of claims, generator and template, and their tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.claims.characteristics import COLUMNS as CHARACTERISTICS
from ragrelay.claims.correlations import correlations
from ragrelay.claims.pairs import COLUMNS as ACU
from ragrelay.claims.usage import UNIT_COLUMNS, UNITS, usage

PAIRS = {**UNIT_COLUMNS, **ACU, **{name: column for name, column in CHARACTERISTICS.items() if name != "id"}}
"""Columns of pairs.csv."""


class Tables(NamedTuple):
    """``pairs``: PAIRS; usage's and correlations' tables."""

    pairs: pl.DataFrame
    usage: pl.DataFrame
    correlations: pl.DataFrame


def analyse_claims(
    units: Sequence[Mapping[str, str]],
    pairs: Sequence[str | Path],
    characteristics: Mapping[str, str | Path],
    resamples: int,
    seed: int,
) -> Tables:
    """Make the tables; files ``pairs`` stand parallel to ``units`` (UNITS), ``characteristics`` by set of claims."""
    frames = [
        pl.read_parquet(path)
        .join(pl.read_parquet(characteristics[unit["claims"]]), on="id", how="left", maintain_order="left")
        .select(*(pl.lit(unit[name]).alias(name) for name in UNITS), "*")
        for unit, path in zip(units, pairs, strict=True)
    ]
    whole = pl.concat(frames)
    return Tables(whole, usage(whole, resamples, seed), correlations(whole, resamples, seed))
