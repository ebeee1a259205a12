"""Define the base classes of scorers, which measure answers against references."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from pydantic import Field

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.kinds import Kind, Kinds

References = Literal["judged", "gold"]
COMPARED = (
    "What answers are compared with: `judged`, the dataset's judged passages by grade, or `gold`, its gold answers."
)
Utility = Literal["relative", "absolute"]
GAIN = "Utility as relative gain (the paper's) or absolute difference."


@dataclass(frozen=True)
class Scores:
    """Arrays ``precision``, ``recall`` and ``f1`` [n_answers, n_references], float32.

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


class Measure(Protocol):
    """A scorer ready for work. ``fingerprint`` changes with everything that changes its numbers."""

    fingerprint: str

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Prepare a dataset's reference texts, unless an earlier job did; return JSON-like facts for the receipt.

        Raises InputError if it does not see their words.
        """

    def check_answers(self, answers: Iterable[str]) -> None:
        """Raise InputError if it does not see the words of ``answers``, which it reads only for that."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Return scores per task. The references are prepared. An answer that several tasks share is processed once."""


class Scorer(Kind):
    """A measure of answer quality: a MeasuredScorer, a JudgeScorer (judge_scorer.py), or scores from a file."""

    bounded: ClassVar[bool] = True
    """Whether its scores are from 0 to 1, so that they can be labels."""

    from_file: ClassVar[bool] = False
    """Whether its scores are read from a file, so that it can't score other texts."""

    references: References = Field("judged", description=COMPARED)
    utility: Utility = Field("absolute", description=GAIN)

    def judges(self) -> list[str]:
        """Return names of the generators that it asks."""
        return []

    def sets(self, grades: Mapping[str, int]) -> dict[str, int]:
        """Return the names of the reference sets, with their lowest labels: a dataset's ``grades``, or one set."""
        return dict(grades) if self.references == "judged" else {self.references: 0}


class MeasuredScorer(Scorer):
    """A measure that is computed from an answer and each of its references."""

    loads_model: ClassVar[bool] = False
    """Whether it loads a model, or may: then one job scores for all retrievers, and a preview does not score."""

    aggregate: Literal["max", "mean"] = Field(
        "max", description="Over a query's references: the best one (`max`), or the mean of all (`mean`)."
    )

    def measure(self, cache_dir: Path, threads: int) -> Measure:
        """Return the scorer, ready for work. It loads models only when a text must be scored."""
        raise NotImplementedError


SCORER_KINDS = Kinds(Scorer, "ragrelay.scoring.scorers")


def make_scorer(definition: Mapping[str, Any], cache_dir: str | Path, threads: int = 1) -> Measure:
    """Return the scorer of a definition from the configuration, ready for work."""
    scorer = SCORER_KINDS.of(definition)
    if not isinstance(scorer, MeasuredScorer):
        raise TypeError(f"{scorer} is no MeasuredScorer")
    measure = scorer.measure(Path(cache_dir), threads)
    if sources := scorer.outside_code():
        measure.fingerprint = value_hash([measure.fingerprint, sources])
    return measure
