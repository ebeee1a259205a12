"""Define predictors computed from the context's text: length, readability, redundancy and coverage."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from ragrelay.annexes.prediction.predictor import AFTER_RETRIEVAL, Predictor
from ragrelay.annexes.prediction.subject import Subject, UndefinedError
from ragrelay.annexes.prediction.terms import TERMS
from ragrelay.base.readability import INDICES
from ragrelay.collection.words import WORDS

OVER_PASSAGES: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "max": max,
    "min": min,
}
WHOLE = "whole"
"""The name that replaces `mean`, `max` and `min` for the value of all passages as one text."""
READABILITY = tuple(INDICES)


def readability(index: str, text: str) -> float:
    """Compute the readability index called ``index`` for a text. Raises UndefinedError if the text has no words."""
    if not WORDS.search(text):
        raise UndefinedError("no word in a passage")
    return INDICES[index](text)


class Readability(Predictor):
    """Flesch reading ease, Flesch-Kincaid grade, Coleman-Liau index or automated readability index of the context.

    Mean, max or min over passages, or joined text (`_whole`). Higher is better only for reading ease. Tian et al. 2026.
    """

    stage, of_k, of_context = AFTER_RETRIEVAL, True, True

    def __init__(self, index: str = READABILITY[0], over: str = WHOLE) -> None:
        self.name, self.index, self.over = f"{index}_{over}", index, over
        self.rising = index == READABILITY[0]  # type: ignore[misc]

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from (cls(index, over) for index in READABILITY for over in (*OVER_PASSAGES, WHOLE))

    def value(self, subject: Subject) -> float:
        subject.query.check_read(TERMS)
        if self.over == WHOLE:
            text = "".join(subject.texts)
            return subject.query.once(f"{self.index} of {subject.k}", lambda: readability(self.index, text))
        return OVER_PASSAGES[self.over]([self._at(subject, place) for place in range(len(subject.texts))])

    def _at(self, subject: Subject, place: int) -> float:
        text = subject.texts[place]
        return subject.query.once(f"{self.index} at {place}", lambda: readability(self.index, text))


class ContextLength(Predictor):
    """Number of words in the context.

    A simple count.
    """

    name, stage, of_k, of_context = "context_length", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        return sum(len(WORDS.findall(text)) for text in subject.texts)


class Redundancy(Predictor):
    """Mean Jaccard similarity between two passages' sets of words, over all pairs of passages in the context.

    Words are stemmed, and stopwords are removed. A simple measure of similarity between the passages.
    """

    name, stage, of_k, of_context, rising = "redundancy", AFTER_RETRIEVAL, True, True, False

    def value(self, subject: Subject) -> float:
        sets = [set(passage) for passage in subject.query.passages[: len(subject.texts)] if passage]
        if len(sets) < 2:
            raise UndefinedError("fewer than two passages with words")
        shares = [len(one & other) / len(one | other) for one, other in combinations(sets, 2)]
        return sum(shares) / len(shares)


class WordsCovered(Predictor):
    """Share of the query's distinct words that occur in at least one of the context's passages.

    A simple measure of coverage.
    """

    name, stage, of_k, of_context = "query_words_covered", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        asked = set(subject.query.words)
        if not asked:
            raise UndefinedError("no word but stopwords in the query")
        subject.texts  # noqa: B018  (raises where nothing is retrieved)
        return sum(any(word in words for words in subject.query.passages[: subject.k]) for word in asked) / len(asked)
