"""Findings in sentences, and on which side of zero an interval lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Findings:
    """Sentences of one part of a study: ``found`` and ``limits``. ``where`` names the cell that they speak of."""

    where: str
    found: list[str]
    limits: list[str]


def side_of_zero(row: Mapping[str, Any]) -> int | None:
    """1 or -1 where the interval of a row (low, high) lies above or below zero, 0 where it includes zero; or None."""
    if row["low"] is None or row["high"] is None:
        return None
    return 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0
