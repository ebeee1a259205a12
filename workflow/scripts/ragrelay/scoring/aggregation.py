"""From an answer's scores with every reference to one score with a set of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragrelay.scoring.score_store import VALUES


class Aggregation:
    """``max``: the reference of highest F1 (the first of equals); ``mean``: of all; ``centroid``: see CosineScorer.

    ``norm`` gives the length of the mean embedding of texts, for ``centroid``.
    """

    def __init__(self, name: str, norm: Callable[[Sequence[str]], float] | None = None) -> None:
        self.name, self.norm = name, norm
        self._norms: dict[tuple[str, ...], float] = {}

    def __call__(
        self, values: Mapping[str, np.ndarray], members: np.ndarray, texts: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Precision, recall and F1 (answers, 3), NaN where the measure has none, and for ``max`` the best references.

        ``values``: (answers, references) by name; ``members`` (references,), bool, at least one; ``texts`` as the
        references. The best are places among the references (answers,).
        """
        if self.name == "max":
            best = np.where(members, values["f1"], -np.inf).argmax(axis=1)
            return np.column_stack([values[name][np.arange(len(best)), best] for name in VALUES]), best
        means = np.column_stack([np.compress(members, values[name], axis=1).mean(axis=1) for name in VALUES])
        if self.name == "centroid":
            norm = self._norm([text for text, member in zip(texts, members, strict=True) if member])
            means[:, :2] = np.nan
            means[:, 2] = means[:, 2] / norm if norm > 0 else 0.0
        return means, None

    def _norm(self, texts: list[str]) -> float:
        key = tuple(texts)
        if key not in self._norms:
            if self.norm is None:
                raise RuntimeError("centroid without embeddings")
            self._norms = {key: self.norm(texts), **dict(list(self._norms.items())[:64])}
        return self._norms[key]


def aggregation(name: str, scorer: Any) -> Aggregation:
    """The aggregation of a scorer's definition."""
    return Aggregation(name, scorer.norm if name == "centroid" else None)
