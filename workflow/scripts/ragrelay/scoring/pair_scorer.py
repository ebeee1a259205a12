"""Define the base classes for scorers that compare one answer with one reference at a time."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from ragrelay.base.display.terminal import tell
from ragrelay.base.io.characters import composed, plain
from ragrelay.base.io.hashing import value_hash
from ragrelay.collection.words import Tokens, check_words
from ragrelay.scoring.scorer import COMPARED, MeasuredScorer, References, Scores, Task

log = logging.getLogger(__name__)

Values = tuple[float, float, float] | float
"""Precision, recall and F1, or a single value."""
Pair = Callable[[str, str], Values]
Pairs = Callable[[Sequence[str], Sequence[str]], Sequence[Values]]
"""A function that scores many pairs, given answers and equally many references."""
SQUAD = 2
"""Increase this number by hand when a change in squad.py changes scores."""
OTHER_SCORERS = "chrf without words, or bertscore or cosine with a model of the language"
"""Scorers to use instead of one that drops letters of the answers' or references' language."""
LOOK_ALIKES = (
    "typographic quotes or dashes, full-width or invisible characters, which its published definition tells apart from "
    "ordinary ones"
)


class PairScorer(MeasuredScorer):
    """Base class for scorers that compare an answer with one reference at a time."""

    drops_letters: ClassVar[bool] = False
    """Whether the scorer ignores some letters; answers are then checked too, as references are."""
    as_published: ClassVar[bool] = False
    """Whether the scorer's published definition distinguishes look-alike characters; answers with such characters are
    then counted."""

    def decisive(self) -> dict[str, object]:
        """Return everything that affects the scores, including the scorer's kind.

        Returns:
            JSON values, keyed by name.
        """
        raise NotImplementedError

    def pair(self) -> Pair:
        """Return the function that scores an answer against a reference.

        Returns:
            A function that takes an answer and a reference, and returns one value, or precision, recall and F1.
        """
        raise NotImplementedError

    def pairs(self) -> Pairs:
        """Return the function that scores many pairs in one call.

        Returns:
            A function that takes two lists of the same length, answers and references, and returns a result per pair.
        """
        pair = self.pair()
        return lambda answers, references: list(map(pair, answers, references))

    def words(self) -> Tokens | None:
        """Return the function that splits a text into the words that the scorer compares.

        Returns:
            A function that returns a text's words, or None if the scorer doesn't compare words.
        """
        return None

    def measure(self, cache_dir: Path, threads: int) -> "PairMeasure":
        """Prepare the scorer for use. Neither the cache nor additional threads are used.

        Args:
            cache_dir: Unused.
            threads: Unused.

        Returns:
            The measure.
        """
        return PairMeasure(self)


class GoldPairScorer(PairScorer):
    """Base class for scorers that compare an answer with a gold answer after normalising both texts as in SQuAD."""

    references: References = Field("gold", description=COMPARED)


class PairMeasure:
    """A measure that scores pairs of texts with ``scorer``. ``decisive``: everything that affects the scores."""

    def __init__(self, scorer: PairScorer) -> None:
        self.scorer, self.decisive, self.pairs = scorer, scorer.decisive(), scorer.pairs()
        self.fingerprint = value_hash(self.decisive)

    def prepare(self, references: Sequence[str]) -> dict[str, object]:
        """Check that the scorer doesn't ignore too many of the references' words. Nothing is computed in advance."""
        self._check_words("references", set(references))
        return {"texts": len(set(references)), "decisive": self.decisive}

    def check_answers(self, answers: Iterable[str]) -> None:
        """Raise InputError if the scorer would ignore too many of the answers' words; warn about look-alike letters."""
        if not self.scorer.as_published:
            return
        tokens, alike = self.scorer.words() or list, list[bool]()

        def noted() -> Iterator[str]:
            for answer in map(composed, answers):
                alike.append(not answer.isascii() and tokens(answer) != tokens(plain(answer)))
                yield answer

        if self.scorer.drops_letters:
            self._check_words("answers", noted())
        else:
            deque(noted(), maxlen=0)
        if any(alike):
            line = f"scorer of kind {self.decisive['kind']}: {sum(alike)} of {len(alike)} answers have {LOOK_ALIKES}"
            log.warning("%s", line)
            tell(f"ragrelay: warning: {line}")

    def _check_words(self, what: str, texts: Iterable[str]) -> None:
        if (words := self.scorer.words()) is not None:
            check_words(f"scorer of kind {self.decisive['kind']}", what, map(composed, texts), words, OTHER_SCORERS)

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Score all pairs in each task. If the scorer returns single values, precision and recall are NaN."""
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
