"""Define predictors computed from models' scores for contexts; the configuration must request these scores."""

import math
from collections.abc import Iterator, Mapping

from ragrelay.annexes.prediction.model_scores import CROSS_ENCODER, JUDGE, LOGPROB, QUALITY, RERANKER
from ragrelay.annexes.prediction.predictor import AFTER_RETRIEVAL, BEFORE_ANSWER, Predictor
from ragrelay.annexes.prediction.predictors.passages import OVER_PASSAGES, WHOLE
from ragrelay.annexes.prediction.subject import Subject, UndefinedError


def passage_scores(subject: Subject, name: str, missing: str) -> list[float]:
    """Return the scores called ``name`` for the context's passages, skipping passages without a score.

    Raises UndefinedError if nothing was retrieved, if the study has no such scores (with the message ``missing``), if a
    processor changed the scored texts, or if no passage in the context has a score.
    """
    subject.texts  # noqa: B018  (raises where nothing is retrieved)
    if name not in subject.query.passage_scores:
        raise UndefinedError(missing)
    if not subject.query.passage_scores[name]:
        raise UndefinedError("the processed texts were not scored")
    scores = [score for score in subject.query.passage_scores[name][: subject.k] if score is not None]
    if not scores:
        raise UndefinedError("no passage with a score")
    return scores


class ContextPerplexity(Predictor):
    """The generator's perplexity for the context after `Q: {query}\\nA: `: exp(−mean log-probability per token).

    Geometric mean, maximum and minimum over passages, and the value for all passages as one text (`_whole`). Requires
    `prediction.context_perplexity`. −ln of `_whole` is PerpC in Tian et al. 2026, as computed in their code.
    """

    stage, of_k, of_context, rising = BEFORE_ANSWER, True, True, False

    def __init__(self, over: str = WHOLE) -> None:
        self.name, self.over = f"context_perplexity_{over}", over

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from (cls(over) for over in (*OVER_PASSAGES, WHOLE))

    def value(self, subject: Subject) -> float:
        surprises = [-score for score in passage_scores(subject, LOGPROB, "no context perplexity in the study")]
        if self.over != WHOLE:
            return math.exp(OVER_PASSAGES[self.over](surprises))
        if subject.k not in subject.query.whole_logprobs:
            raise UndefinedError("no token of the context was scored")
        return math.exp(-subject.query.whole_logprobs[subject.k])


class RerankerScore(Predictor):
    """Mean and maximum of the scores that the reranker in `prediction.reranker` gives to the context's passages.

    A simple statistic of the scores. The reranker is MonoT5 (Nogueira et al., Findings of EMNLP 2020) or a
    cross-encoder.
    """

    stage, of_k, of_context = AFTER_RETRIEVAL, True, True

    def __init__(self, over: str = "mean") -> None:
        self.name, self.over = f"reranker_{over}", over

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from (cls(over) for over in ("mean", "max"))

    def value(self, subject: Subject) -> float:
        scores = passage_scores(subject, RERANKER, "no reranker for predictors in the study")
        if len(scores) < len(subject.texts):
            raise UndefinedError("a passage of the context without a score")
        return OVER_PASSAGES[self.over](scores)


class BertQpp(Predictor):
    """Score from the cross-encoder in `prediction.cross_encoder` for the query and its first passage.

    BERT-QPP (Arabzadeh, Khodabakhsh and Bagheri, CIKM 2021), whose model is trained to predict a retrieval measure.
    """

    name, stage = "bert_qpp", AFTER_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return passage_scores(Subject(subject.query, 1), CROSS_ENCODER, "no cross-encoder for predictors in the study")[
            0
        ]


class QppGenRe(Predictor):
    """nDCG@k of the ranking, based on labels from the judge in `prediction.judge`; 0 if no passage is relevant.

    Σ label / log2(rank + 1), divided by the largest sum that any order of the ranking's judged passages could reach.
    Meng et al., ACM TOIS 2025 (QPP-GenRE).
    """

    name, stage, of_k = "qpp_genre", AFTER_RETRIEVAL, True

    def value(self, subject: Subject) -> float:
        passage_scores(subject, JUDGE, "no judge for predictors in the study")
        labels = subject.query.passage_scores[JUDGE]
        shown = labels[: subject.k]
        if None in shown:
            raise UndefinedError("the judge has not labelled all k passages")
        best = sorted((label for label in labels if label is not None), reverse=True)[: len(shown)]
        ideal = discounted(best)
        return discounted([label for label in shown if label is not None]) / ideal if ideal > 0 else 0.0


class PassageQuality(Predictor):
    """Mean, maximum and minimum quality of the context's passages, read from the file in `prediction.passage_quality`.

    Quality doesn't depend on the query, as in QualT5 (Chang et al., SIGIR 2024). Used by Tian et al. 2026.
    """

    stage, of_k, of_context = AFTER_RETRIEVAL, True, True

    def __init__(self, over: str = "mean") -> None:
        self.name, self.over = f"passage_quality_{over}", over

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from (cls(over) for over in OVER_PASSAGES)

    def value(self, subject: Subject) -> float:
        return OVER_PASSAGES[self.over](passage_scores(subject, QUALITY, "no quality of passages in the study"))


def discounted(labels: list[float]) -> float:
    """Return the discounted cumulative gain, with ``labels`` as gains."""
    return sum(label / math.log2(place + 1) for place, label in enumerate(labels, start=1))
