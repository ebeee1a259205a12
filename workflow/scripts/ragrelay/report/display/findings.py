"""Hold findings in sentences, and tell on which side of zero an interval lies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Conclusion(NamedTuple):
    """An answer at the top of a page: ``strong``, then the numbers; ``names`` are the retrievers in ``strong``."""

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
        """Split ``strong`` into pieces, each with the retriever that it names, or ""."""
        pieces = (
            re.split(f"(?<![\\w-])({'|'.join(map(re.escape, self.names))})(?![\\w-])", self.strong)
            if self.names
            else [self.strong]
        )
        return [(piece, piece if piece in self.names else "") for piece in pieces if piece]


@dataclass(frozen=True)
class Findings:
    """Sentences and limits of one part of a study; ``where`` names the cell that they are about."""

    where: str
    sentences: list[str]
    limits: list[str]


def side_of_zero(row: Mapping[str, Any]) -> int | None:
    """Return 1 or -1 if a row's interval (low, high) lies above or below zero, 0 if it includes zero; None without."""
    if row["low"] is None or row["high"] is None:
        return None
    return 1 if row["low"] > 0 else -1 if row["high"] < 0 else 0
