"""Scorers that look at one answer and one reference at a time, without a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragrelay.io.hashing import value_hash
from ragrelay.scoring.scorers import Scores, Task

# Precision, recall and F1, or a single value alone.
Pair = Callable[[str, str], tuple[float, float, float] | float]


class PairScorer:
    """The scorer of ``pair(answer, reference)``; ``decisive`` says what decides its numbers."""

    def __init__(self, decisive: Mapping[str, Any], pair: Pair) -> None:
        self.decisive, self.pair = dict(decisive), pair
        self.fingerprint = value_hash(self.decisive)

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Nothing is kept of the references."""
        return {"texts": len(set(references)), "decisive": self.decisive}

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Scores per task; precision and recall are NaN where the measure is a single value."""
        return [self._scores(task) for task in tasks]

    def _scores(self, task: Task) -> Scores:
        values = np.full((3, len(task.answers), len(task.references)), np.nan, dtype=np.float32)
        for row, answer in enumerate(task.answers):
            for column, reference in enumerate(task.references):
                value = self.pair(answer, reference)
                if isinstance(value, tuple):
                    values[:, row, column] = value
                else:
                    values[2, row, column] = value
        return Scores(*values)
