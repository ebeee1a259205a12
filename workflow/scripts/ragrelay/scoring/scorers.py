"""Scorer kinds: what a scorer must do, and which kinds there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ragrelay.errors import InputError


@dataclass(frozen=True)
class Scores:
    """``precision``, ``recall``, ``f1``: arrays [n_answers, n_references], float32.

    A measure of one value has it in ``f1``, and NaN in the others.
    """

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


@dataclass(frozen=True)
class Task:
    """Answers to be scored against all references of one query."""

    answers: Sequence[str]
    references: Sequence[str]


class Scorer(Protocol):
    """A measure of answers against references. ``fingerprint`` changes with whatever changes its numbers."""

    fingerprint: str

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Do once what a dataset's reference texts need; returns JSON-like facts for the receipt. Cheap once done."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Scores per task. The references were prepared; an answer that several tasks share is looked at once."""


def make_scorer(definition: Mapping[str, Any], cache_dir: str | Path, threads: int = 1) -> Scorer:
    """The scorer of a definition from the configuration (``kind`` and what that kind needs).

    Raises InputError for a kind that isn't there.
    """
    kind = definition.get("kind")
    if kind not in KINDS:
        raise InputError("scorer", f"kind {kind!r}", "one of " + ", ".join(KINDS))
    return KINDS[kind](definition, Path(cache_dir), threads)


def _bertscore(definition: Mapping[str, Any], cache_dir: Path, threads: int) -> Scorer:
    from ragrelay.scoring.bertscore import BertScorer

    return BertScorer(definition, cache_dir, threads)


def _cosine(definition: Mapping[str, Any], cache_dir: Path, threads: int) -> Scorer:
    from ragrelay.scoring.cosine import CosineScorer

    return CosineScorer(definition, cache_dir, threads)


def _lexical(definition: Mapping[str, Any], cache_dir: Path, threads: int) -> Scorer:
    from ragrelay.scoring import lexical

    made: Scorer = getattr(lexical, definition["kind"])(definition)
    return made


def _gold(definition: Mapping[str, Any], cache_dir: Path, threads: int) -> Scorer:
    from ragrelay.scoring.gold import gold_scorer

    return gold_scorer(definition)


# A kind is imported when it is asked for, so that one kind's libraries are no other's burden.
KINDS: dict[str, Callable[[Mapping[str, Any], Path, int], Scorer]] = {
    "bertscore": _bertscore,
    "cosine": _cosine,
    **dict.fromkeys(("rouge", "bleu", "chrf", "length"), _lexical),
    **dict.fromkeys(("exact_match", "token_f1", "containment"), _gold),
}
