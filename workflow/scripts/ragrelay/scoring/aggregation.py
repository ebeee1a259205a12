"""Combine an answer's scores against single references into a score against a set of references."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragrelay.scoring.store import VALUES


class Aggregation:
    """A method for combining an answer's scores: ``max`` (the reference with the highest F1), ``mean`` or ``centroid``.

    ``norm``: a function that returns the length of some texts' mean embedding; used only for ``centroid``.
    """

    def __init__(self, name: str, norm: Callable[[Sequence[str]], float] | None = None) -> None:
        self.name, self.norm = name, norm
        self._norms: dict[tuple[str, ...], float] = {}

    def __call__(
        self, values: Mapping[str, np.ndarray], members: np.ndarray, texts: Sequence[str], shown: np.ndarray
    ) -> tuple[np.ndarray, np.ma.MaskedArray]:
        """Return precision, recall and F1 (answers × 3), NaN if undefined, and each answer's best reference (answers,).

        ``values``: arrays (answers, references), by name; ``members`` (references,): which references are in the set;
        ``texts``: the references' texts; ``shown`` (answers, references): whether the answer's context shows the
        reference. The best reference is given as an index: the first reference with the highest F1 or, if several have
        the same text, one that the context shows, because it is the one that was copied. The index is masked if the
        highest F1 is 0, as for an empty answer, and for aggregations other than ``max``.
        """
        if self.name == "max":
            best = np.where(members, values["f1"], -np.inf).argmax(axis=1)
            numbers = np.column_stack([values[name][np.arange(len(best)), best] for name in VALUES])
            return numbers, np.ma.array(_copied(best, members, texts, shown), mask=numbers[:, 2] == 0)
        means = np.column_stack([np.compress(members, values[name], axis=1).mean(axis=1) for name in VALUES])
        if self.name == "centroid":
            norm = self._norm([text for text, member in zip(texts, members, strict=True) if member])
            means[:, :2] = np.nan
            means[:, 2] = means[:, 2] / norm if norm > 0 else 0.0
        return means, np.ma.array(np.zeros(len(means), dtype=int), mask=True)

    def _norm(self, texts: list[str]) -> float:
        key = tuple(texts)
        if key not in self._norms:
            if self.norm is None:
                raise RuntimeError("centroid without embeddings")
            self._norms = {key: self.norm(texts), **dict(list(self._norms.items())[:64])}
        return self._norms[key]


def _copied(best: np.ndarray, members: np.ndarray, texts: Sequence[str], shown: np.ndarray) -> np.ndarray:
    """Replace each reference in ``best`` with the first reference with that text in the answer's context, if any."""
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    if len(first) == len(texts):
        return best
    groups = np.array([first[text] for text in texts])
    twins = members & shown & (groups == groups[best][:, None])
    return np.where(twins.any(axis=1), twins.argmax(axis=1), best)


def aggregation(name: str, scorer: Any) -> Aggregation:
    """Return the aggregation ``name``. The scorer's method ``norm`` is used only for ``centroid``."""
    return Aggregation(name, scorer.norm if name == "centroid" else None)
