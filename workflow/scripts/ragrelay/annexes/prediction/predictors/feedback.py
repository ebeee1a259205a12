"""Define predictors based on a relevance model of the words in the first passages."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from ragrelay.annexes.prediction.predictor import AFTER_RETRIEVAL, Predictor
from ragrelay.annexes.prediction.predictors.query_terms import UNKNOWN, query_words
from ragrelay.annexes.prediction.predictors.ranking_scores import (
    MaxScore,
    MeanScore,
    Nqc,
    NqcShtok,
    Rsd,
    ScoreRatio,
    SigmaMax,
    SigmaShare,
    Smv,
    Wig,
    several,
)  # fmt: skip
from ragrelay.annexes.prediction.subject import Query, Subject, UndefinedError

LAMBDA = 0.6
"""Weight of a passage's words relative to the corpus's (Cronen-Townsend et al., SIGIR 2002)."""
Distribution = Mapping[str, float]


def in_corpus(query: Query, word: str) -> float:
    """Return P(w|C), the word's probability in the corpus."""
    return query.statistics.words.get(word, UNKNOWN).occurrences / query.statistics.tokens


def log_likelihood(query: Query, passage: Counter[str]) -> float:
    """Return the query's log-likelihood given a passage, Σ ln P(w|D), with Jelinek-Mercer smoothing."""
    total = passage.total()
    smoothed = (LAMBDA * passage[word] / total + (1.0 - LAMBDA) * in_corpus(query, word) for word in query_words(query))
    return sum(map(math.log, smoothed))


def feedback(query: Query) -> list[Counter[str]]:
    """Return the non-empty passages among the first `feedback_depth`. Raises UndefinedError if there are none."""
    passages = [passage for passage in query.passages[: query.settings.feedback_depth] if passage]
    if not passages:
        raise UndefinedError("nothing retrieved" if not query.passages else "no word in the passages")
    return passages


def relevance_model(query: Query) -> Distribution:
    """Return P(w|q) = Σ_D P(w|D) P(D|q) for words in the feedback passages, where P(D|q) is proportional to P(q|D)."""

    def make() -> Distribution:
        passages = feedback(query)
        logs = np.array([log_likelihood(query, passage) for passage in passages])
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        model: dict[str, float] = {}
        for passage, weight in zip(passages, weights, strict=True):
            total = passage.total()
            for word, n in passage.items():
                model[word] = model.get(word, 0.0) + weight * LAMBDA * n / total
        background = {word: in_corpus(query, word) for word in model}
        whole = {word: own + (1.0 - LAMBDA) * background[word] for word, own in model.items()}
        mass = sum(whole.values())
        return {word: value / mass for word, value in whole.items()}

    return query.once("relevance model", make)


def _score_correlation(query: Query) -> float:
    """Return Pearson's r between the feedback passages' scores in the ranking and by the relevance model."""

    def make() -> float:
        model, places = relevance_model(query), range(min(len(query.passages), query.settings.feedback_depth))
        kept = [place for place in places if query.passages[place]]
        scores = several(query.context_scores[kept])
        again = np.array([_likeness(query, model, query.passages[place]) for place in kept])
        if not scores.std() > 0.0 or not again.std() > 0.0:
            raise UndefinedError("all scores are equal")
        return float(np.corrcoef(scores, again)[0, 1])

    return query.once("agreement with the relevance model", make)


def _likeness(query: Query, model: Distribution, passage: Counter[str]) -> float:
    """Return the sum of P(w|q) ln P(w|D), minus its value (a constant) for a passage with none of the model's words."""
    total = passage.total()
    return sum(
        model[word] * math.log1p(LAMBDA * n / total / ((1.0 - LAMBDA) * in_corpus(query, word)))
        for word, n in passage.items()
    )


class Clarity(Predictor):
    """Σ P(w|q) · log2(P(w|q) / P(w|C)), where P(w|q) is a relevance model of the first `feedback_depth` passages.

    Cronen-Townsend, Zhou and Croft, SIGIR 2002.
    """

    name, stage = "clarity", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        query, model = subject.query, relevance_model(subject.query)
        return sum(p * math.log2(p / in_corpus(query, word)) for word, p in model.items())


BASES: tuple[type[Predictor], ...] = (
    Nqc, Wig, Clarity, MaxScore, MeanScore, ScoreRatio, SigmaMax, SigmaShare, NqcShtok, Smv, Rsd,
)  # fmt: skip


class Uef(Predictor):
    """The predictor whose name follows `uef_`, multiplied by Pearson's r between retrieval and relevance-model scores.

    r is computed over the first `feedback_depth` passages. Only `uef_mean_score` depends on k. Shtok et al. 2010 (UEF).
    """

    stage = AFTER_RETRIEVAL

    def __init__(self, base: type[Predictor] = Nqc) -> None:
        self.base = base()
        self.name = f"uef_{self.base.name}"
        self.of_k = self.base.of_k  # type: ignore[misc]

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from map(cls, BASES)

    def value(self, subject: Subject) -> float:
        return _score_correlation(subject.query) * self.base.value(subject)
