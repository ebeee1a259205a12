"""Compute all tables of a claims study, across sets of claims, generators and templates."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.annexes.acu.characteristic_columns import COLUMNS as CHARACTERISTICS
from ragrelay.annexes.acu.correlations import acu_correlations
from ragrelay.annexes.acu.datasets import characteristic_means, composition
from ragrelay.annexes.acu.pairs import COLUMNS as ACU
from ragrelay.annexes.acu.usage import UNIT_COLUMNS, UNITS, usage
from ragrelay.base.io.keyed_files import KeyedFiles

PAIRS = {**UNIT_COLUMNS, **ACU, **{name: column for name, column in CHARACTERISTICS.items() if name != "id"}}
"""Columns of pairs.csv."""


class Tables(NamedTuple):
    """A claims study's tables. ``pairs`` has columns PAIRS; the modules of the other tables declare their columns."""

    pairs: pl.DataFrame
    usage: pl.DataFrame
    correlations: pl.DataFrame
    composition: pl.DataFrame
    means: pl.DataFrame


def analyse_acu(
    pairs: KeyedFiles,
    claims: Mapping[str, str | Path],
    characteristics: Mapping[str, str | Path],
    resamples: int,
    seed: int,
) -> Tables:
    """Compute a claims study's tables. ``claims`` and ``characteristics`` map each claim set's name to a file."""
    sets = {name: pl.read_parquet(path) for name, path in claims.items()}
    described = {name: pl.read_parquet(path) for name, path in characteristics.items()}
    frames = [
        pl.read_parquet(path)
        .join(described[unit["claims"]], on="id", how="left", maintain_order="left")
        .select(*(pl.lit(unit[name]).alias(name) for name in UNITS), "*")
        for unit, path in pairs.keyed
    ]
    whole = pl.concat(frames)
    return Tables(
        whole,
        usage(whole, resamples, seed),
        acu_correlations(whole, resamples, seed),
        composition(sets),
        characteristic_means(sets, described, whole, resamples, seed),
    )
