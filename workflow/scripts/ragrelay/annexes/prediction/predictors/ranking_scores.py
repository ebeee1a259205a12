"""Define predictors computed from the ranking's scores."""

import math

import numpy as np

from ragrelay.annexes.prediction.predictor import AFTER_RETRIEVAL, Predictor
from ragrelay.annexes.prediction.predictors.query_terms import idf, query_words
from ragrelay.annexes.prediction.subject import Array, Query, Subject, UndefinedError

SAMPLES = 100
"""Number of random halves of the results that the predictor RSD draws."""


def several(scores: Array) -> Array:
    """Return ``scores`` unchanged. Raises UndefinedError if there are fewer than two scores."""
    if len(scores) < 2:
        raise UndefinedError("fewer than two results")
    return scores


def corpus_score(query: Query) -> float:
    """Return the complete ranking's mean score, used as the corpus's score. Raises UndefinedError if the mean is 0."""
    mean = float(query.scores.mean())
    if mean == 0.0:
        raise UndefinedError("the mean score of the ranking is 0")
    return mean


class MaxScore(Predictor):
    """Score of the first result.

    Tian et al. 2026; Tomlinson 2004.
    """

    name, stage = "max_score", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return float(subject.scores[0])


class MeanScore(Predictor):
    """Mean score of the context's k passages.

    A simple statistic of the scores.
    """

    name, stage, of_k, of_context = "mean_score", AFTER_RETRIEVAL, True, True

    def value(self, subject: Subject) -> float:
        subject.scores  # noqa: B018  (raises where nothing is retrieved)
        mean = float(subject.query.scores[: subject.k].mean())
        if math.isnan(mean):
            raise UndefinedError("a passage of the context that the ranking does not have")
        return mean


class ScoreRatio(Predictor):
    """Score of the first result divided by the score of the second.

    A simple statistic of the scores.
    """

    name, stage = "score_ratio", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        first, second = several(subject.scores)[:2]
        if second == 0.0:
            raise UndefinedError("the second score is 0")
        return float(first / second)


class SigmaMax(Predictor):
    """Largest standard deviation of the first i results' scores, over all i up to `score_depth`.

    Pérez-Iglesias and Araujo, SPIRE 2010.
    """

    name, stage = "sigma_max", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        scores = several(subject.scores) - subject.scores[0]
        counts = np.arange(1, len(scores) + 1)
        means = scores.cumsum() / counts
        return float(np.sqrt(np.maximum((scores**2).cumsum() / counts - means**2, 0.0)).max())


class SigmaShare(Predictor):
    """Standard deviation of all scores that are at least `score_share` times the first result's score.

    Cummins, Jose and O'Riordan, SIGIR 2011 (σ_x%).
    """

    name, stage = "sigma_share", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        scores = several(subject.query.scores)
        if scores[0] <= 0.0:
            raise UndefinedError("the first score is not above 0")
        return float(scores[scores >= subject.query.settings.score_share * scores[0]].std())


class Nqc(Predictor):
    """Variance of the first `score_depth` scores, multiplied by the largest IDF among the query's words.

    Computed as in Tian et al.'s code (2026); based on Shtok et al., ACM TOIS 2012.
    """

    name, stage = "nqc", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        idfs = [idf(subject.query.statistics, word) for word in query_words(subject.query)]
        return float(np.var(several(subject.scores))) * max(idfs)


class NqcShtok(Predictor):
    """Standard deviation of the first `score_depth` scores, divided by the absolute mean score of the complete ranking.

    Shtok et al., ACM TOIS 2012, but with this mean instead of the corpus's score, which only some retrievers provide.
    """

    name, stage = "nqc_shtok", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return float(several(subject.scores).std()) / abs(corpus_score(subject.query))


class Wig(Predictor):
    """Mean of the first `wig_depth` scores minus the complete ranking's mean, divided by √(number of query words).

    Zhou and Croft, SIGIR 2007, with the ranking's mean instead of the corpus's score.
    """

    name, stage = "wig", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        query = subject.query
        top = float(subject.scores[: query.settings.wig_depth].mean())
        return (top - float(query.scores.mean())) / math.sqrt(len(query_words(query)))


class Smv(Predictor):
    """Mean of s · |ln(s / μ)| over the first `score_depth` scores s with mean μ, divided by the ranking's mean score.

    Tao and Wu, CIKM 2014, with the ranking's mean instead of the corpus's score.
    """

    name, stage = "smv", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        scores = several(subject.scores)
        if scores.min() <= 0.0:
            raise UndefinedError("a score is not above 0")
        return float((scores * np.abs(np.log(scores / scores.mean()))).mean()) / corpus_score(subject.query)


class Rsd(Predictor):
    """√(Σ w · σ² / Σ w) over 100 random halves of the top `score_depth` scores, divided by the ranking's |mean score|.

    σ is the standard deviation of a half's scores; w is the half's mean score minus the smallest of the `score_depth`
    scores. Based on Roitman, Erera and Weiner, ICTIR 2017.
    """

    name, stage = "rsd", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        scores = several(subject.scores)
        random, size = np.random.default_rng(len(scores)), max(2, len(scores) // 2)
        halves = scores[np.argsort(random.random((SAMPLES, len(scores))), axis=1)[:, :size]]
        weights = halves.mean(axis=1) - scores.min()
        if not weights.sum() > 0.0:
            raise UndefinedError("all scores are equal")
        return float(np.sqrt((weights * halves.var(axis=1)).sum() / weights.sum())) / abs(corpus_score(subject.query))
