"""Define base classes of scorers that compare one answer with one reference at a time."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from ragrelay.io.hashing import value_hash
from ragrelay.scoring.scorer import COMPARED, MeasuredScorer, References, Scores, Task

Values = tuple[float, float, float] | float
"""Precision, recall and F1, or a single value."""
Pair = Callable[[str, str], Values]
Pairs = Callable[[Sequence[str], Sequence[str]], Sequence[Values]]
"""A function of many pairs: answers, and as many references."""
SQUAD = 1
"""To be raised by hand when a change in squad.py changes scores."""


class PairScorer(MeasuredScorer):
    """A function of an answer and a reference."""

    def decisive(self) -> dict[str, Any]:
        """Return everything that determines its scores, including the kind."""
        raise NotImplementedError

    def pair(self) -> Pair:
        """Return the function that scores an answer and a reference."""
        raise NotImplementedError

    def pairs(self) -> Pairs:
        """Return the function of many pairs."""
        pair = self.pair()
        return lambda answers, references: list(map(pair, answers, references))

    def measure(self, cache_dir: Path, threads: int) -> "PairMeasure":
        """Return the measure, which uses no cache and one core."""
        return PairMeasure(self.decisive(), self.pairs())


class GoldPairScorer(PairScorer):
    """A function of an answer and a gold answer, both normalised as in SQuAD."""

    references: References = Field("gold", description=COMPARED)


class PairMeasure:
    """A scorer of pairs of texts. ``decisive`` has everything that determines its numbers."""

    def __init__(self, decisive: Mapping[str, Any], pairs: Pairs) -> None:
        self.decisive, self.pairs = dict(decisive), pairs
        self.fingerprint = value_hash(self.decisive)

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Do nothing: references need no preparation."""
        return {"texts": len(set(references)), "decisive": self.decisive}

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Return scores per task. Precision and recall are NaN if the measure is a single value."""
        return [self._scores(task) for task in tasks]

    def _scores(self, task: Task) -> Scores:
        answers = [answer for answer in task.answers for _ in task.references]
        scores = self.pairs(answers, list(task.references) * len(task.answers))
        values = np.full((3, len(answers)), np.nan, dtype=np.float32)
        for place, value in enumerate(scores):
            if isinstance(value, tuple):
                values[:, place] = value
            else:
                values[2, place] = value
        return Scores(*values.reshape(3, len(task.answers), len(task.references)))
