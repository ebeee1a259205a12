"""Findings in sentences, and on which side of zero an interval lies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Conclusion(NamedTuple):
    """An answer that a page opens with: ``strong``, then the numbers; ``names`` are the retrievers in it."""

    topic: str
    question: str
    strong: str
    numbers: str = ""
    names: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return f"{self.strong}: {self.numbers}." if self.numbers else f"{self.strong}."

    @property
    def parts(self) -> list[tuple[str, str]]:
        """``strong`` in pieces, each with the retriever that it names, or none."""
        pieces = (
            re.split(f"(?<![\\w-])({'|'.join(map(re.escape, self.names))})(?![\\w-])", self.strong)
            if self.names
            else [self.strong]
        )
        return [(piece, piece if piece in self.names else "") for piece in pieces if piece]


@dataclass(frozen=True)
class Findings:
    """Sentences of one part of a study: ``sentences`` and ``limits``. ``where`` names the cell that they speak of."""

    where: str
    sentences: list[str]
    limits: list[str]


def side_of_zero(row: Mapping[str, Any]) -> int | None:
    """1 or -1 where the interval of a row (low, high) lies above or below zero, 0 where it includes zero; or None."""
    if row["low"] is None or row["high"] is None:
        return None
    return 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0
