"""Define the base classes for scorers, which measure answer quality."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

import numpy as np
from pydantic import Field

from ragrelay.base.io.hashing import value_hash
from ragrelay.base.kinds import Kind, Kinds

References = Literal["judged", "gold"]
COMPARED = "What answers are compared with: passages judged at or above a grade (`judged`), or gold answers (`gold`)."
Utility = Literal["relative", "absolute"]
GAIN = "Whether utility is the relative gain (P − P₀) / P₀, as in Tian et al. (2025), or the absolute gain P − P₀."


@dataclass(frozen=True)
class Scores:
    """The scores for every pair of answer and reference, as float32 arrays (n_answers, n_references)."""

    precision: np.ndarray
    """NaN if the measure is a single value."""
    recall: np.ndarray
    """NaN if the measure is a single value."""
    f1: np.ndarray
    """F1, or the measure's only value."""


@dataclass(frozen=True)
class Task:
    """Answers to a query, and the references to score each answer against."""

    answers: Sequence[str]
    """The answers' texts."""
    references: Sequence[str]
    """The references' texts."""


class Measure(Protocol):
    """A scorer that is ready to compute scores."""

    fingerprint: str
    """A hash that changes with everything that changes the scores."""

    def prepare(self, references: Sequence[str]) -> dict[str, object]:
        """Prepare a dataset's references, for example by encoding them, unless an earlier job has done so.

        Args:
            references: The references' texts.

        Returns:
            JSON values for the receipt.

        Raises:
            InputError: The measure would ignore too many of the references' words.
        """

    def check_answers(self, answers: Iterable[str]) -> None:
        """Check that the measure doesn't ignore too many of the answers' words.

        Args:
            answers: The answers' texts, which are read only for this check.

        Raises:
            InputError: The measure would ignore too many of the answers' words.
        """

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Score all pairs of answer and reference in each task. An answer in several tasks is processed only once.

        Args:
            tasks: Answers and references. The references must have been passed to ``prepare``.

        Returns:
            The scores for each task.
        """


class Scorer(Kind):
    """Base class for all scorers: measures (MeasuredScorer), judges (JudgeScorer), scores from a file, and panels."""

    bounded: ClassVar[bool] = True
    """Whether the scores are between 0 and 1, so that they can serve as labels."""

    from_file: ClassVar[bool] = False
    """Whether the scores come from a file, so that no other texts can be scored."""

    references: References = Field("judged", description=COMPARED)
    utility: Utility = Field("absolute", description=GAIN)

    def judges(self) -> list[str]:
        """List the generators that the scorer uses, such as a judge.

        Returns:
            The generators' names; empty by default.
        """
        return []

    def members(self) -> list[str]:
        """List the scorers whose scores this scorer combines.

        Returns:
            The scorers' names; empty by default.
        """
        return []

    def sets(self, grades: Mapping[str, int]) -> dict[str, int]:
        """List the reference sets that the scorer uses for a dataset.

        Args:
            grades: The lowest label in each of the dataset's reference grades.

        Returns:
            The lowest label in each set. Unless references are judged passages, there is one set, with label 0.
        """
        return dict(grades) if self.references == "judged" else {self.references: 0}


class MeasuredScorer(Scorer):
    """Base class for scorers that compute a score for each pair of an answer and a reference."""

    loads_model: ClassVar[bool] = False
    """Whether the scorer may load a model. One job then scores all retrievers' answers, and a preview computes no
    scores."""

    aggregate: Literal["max", "mean"] = Field(
        "max",
        description="How to combine an answer's scores against the query's references: the best score (`max`) or the "
        "mean of all scores (`mean`).",
    )

    def measure(self, cache_dir: Path, threads: int) -> Measure:
        """Prepare the scorer for use. A model is loaded only when there are texts to score.

        Args:
            cache_dir: The cache's folder.
            threads: Number of CPU threads.

        Returns:
            The measure.
        """
        raise NotImplementedError


SCORER_KINDS = Kinds(Scorer, "ragrelay.scoring.scorers")


def make_scorer(definition: Mapping[str, object], cache_dir: str | Path, threads: int = 1) -> Measure:
    """Create a measure from a scorer's definition in the configuration."""
    scorer = SCORER_KINDS.of(definition)
    if not isinstance(scorer, MeasuredScorer):
        raise TypeError(f"{scorer} is no MeasuredScorer")
    measure = scorer.measure(Path(cache_dir), threads)
    if sources := scorer.outside_code():
        measure.fingerprint = value_hash([measure.fingerprint, sources])
    return measure
