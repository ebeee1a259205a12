"""The part of a study's page on openings."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from ragrelay.extend import KeyedFiles, Page


def read(files: Mapping[str, KeyedFiles], inputs: Any, params: Any) -> list[dict[str, Any]]:
    """Return the most frequent opening of each dataset and generator."""
    return [pl.read_csv(path).row(0, named=True) for path in inputs.openings]


def values(part: list[dict[str, Any]], page: Page, most_rows: int) -> dict[str, Any]:
    """Return the variable of ``openings.html.j2``."""
    return {"openings": part}
