"""Predict from zero-shot answers before answering with context, and from answers with context afterwards."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from ragrelay.annexes.prediction.predictor import AFTER_ANSWER, BEFORE_ANSWER, Predictor
from ragrelay.annexes.prediction.subject import Answer, Subject, UndefinedError
from ragrelay.annexes.prediction.terms import BLANKS
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.scoring.squad import token_f1, words

PREFIX = f"{ZEROSHOT}_"
"""Prefix for predictors that use the zero-shot answers."""
Numbers = Callable[[Answer], float | None]


def over_seeds(answers: Sequence[Answer], number: Numbers, missing: str) -> float:
    """Average ``number`` over the ``answers`` for which it has a value.

    Raises UndefinedError with the message ``missing`` if there is no such answer.
    """
    if not answers:
        raise UndefinedError("no answer")
    values = [value for answer in answers if (value := number(answer)) is not None]
    if not values:
        raise UndefinedError(missing)
    return sum(values) / len(values)


def _several(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return ``answers``. Raises UndefinedError if there are fewer than two."""
    if len(answers) < 2:
        raise UndefinedError("fewer than two seeds")
    return answers


def per_token(answer: Answer) -> float | None:
    """Return the mean log-probability of the answer's tokens."""
    return answer.logprob / answer.tokens if answer.logprob is not None and answer.tokens else None


def mean_probability(answer: Answer) -> float | None:
    """Return the mean probability of the answer's tokens."""
    known = answer.token_logprobs
    return sum(map(math.exp, known)) / len(known) if known else None


def mean_entropy(answer: Answer) -> float | None:
    """Return the mean entropy over the answer's tokens."""
    known = answer.token_entropies
    return sum(known) / len(known) if known else None


def meanings(answers: Sequence[Answer], same: float) -> list[int]:
    """Return the sizes of clusters of answers; an answer joins the first cluster with a similar first answer.

    Two answers are similar if their word F1 is at least ``same``.
    """
    clusters: list[list[str]] = []
    for answer in answers:
        near = next((cluster for cluster in clusters if token_f1(answer.text, cluster[0])[2] >= same), None)
        if near is None:
            clusters.append([answer.text])
        else:
            near.append(answer.text)
    return [len(cluster) for cluster in clusters]


class OfAnswers(Predictor):
    """A number computed from the answers to one prompt, over seeds, with or without the context."""

    base: str

    def __init__(self, zeroshot: bool = False) -> None:
        self.zeroshot = zeroshot
        self.name = PREFIX + self.base if zeroshot else self.base
        self.stage = BEFORE_ANSWER if zeroshot else AFTER_ANSWER  # type: ignore[misc]
        self.of_k = self.of_ordering = not zeroshot  # type: ignore[misc]

    stage = AFTER_ANSWER

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        if cls is not OfAnswers:
            yield from (cls(zeroshot) for zeroshot in (True, False))

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        """Compute the number from ``answers``; raises UndefinedError if it can't be computed."""
        raise NotImplementedError

    def value(self, subject: Subject) -> float:
        return self.of_answers(subject.query.zeroshot if self.zeroshot else subject.answers, subject)


class AnswerLogprob(OfAnswers):
    """The answer's log-probability per token in nats, averaged over seeds.

    Probabilities are the model's before temperature. The perplexity is exp(−this value).
    """

    base = "answer_logprob"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, per_token, "no log-probability")


class AnswerProbability(OfAnswers):
    """Mean probability of the answer's tokens, averaged over seeds.

    Tian et al. 2026, who call it PerpA (`prob(k)` in their code).
    """

    base = "answer_probability"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, mean_probability, "no log-probabilities of tokens")


class FirstTokenLogprob(OfAnswers):
    """Log-probability of the answer's first token in nats, averaged over seeds.

    The probability is the model's before temperature. A simple statistic of the log-probabilities.
    """

    base = "first_token_logprob"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(
            answers,
            lambda answer: answer.token_logprobs[0] if answer.token_logprobs else None,
            "no log-probabilities of tokens",
        )


class FirstTokenMargin(OfAnswers):
    """ln p₁ − ln p₂ for the two likeliest candidates for the answer's first token, averaged over seeds.

    Probabilities are the model's before temperature, whichever token was sampled. The margin of Scheffer, Decomain and
    Wrobel, IDA 2001, on a log scale.
    """

    base = "first_token_margin"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, lambda answer: answer.first_token_margin, "no margin of the first token")


class MeanEntropy(OfAnswers):
    """Entropy over each token's 20 likeliest candidates in nats, averaged over tokens and seeds.

    Predictive uncertainty, as in Malinin and Gales, ICLR 2021.
    """

    base, rising = "mean_entropy", False

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, mean_entropy, "no entropies of tokens")


class Consistency(OfAnswers):
    """Share of pairs of seeds whose answers have the same words after SQuAD's normalisation.

    Self-consistency: Wang et al., ICLR 2023.
    """

    base = "agreement"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        pairs = list(combinations([words(answer.text) for answer in _several(answers)], 2))
        return sum(one == other for one, other in pairs) / len(pairs)


class ConsistencyF1(OfAnswers):
    """Word F1 between two seeds' answers, averaged over all pairs of seeds.

    Self-consistency with a soft match: SQuAD's F1 (Rajpurkar et al., EMNLP 2016).
    """

    base = "agreement_f1"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        subject.query.check_read(BLANKS)
        values = [token_f1(one.text, other.text)[2] for one, other in combinations(_several(answers), 2)]
        return sum(values) / len(values)


class SemanticEntropy(OfAnswers):
    """−Σ p · ln p over clusters of the seeds' answers; a word F1 of at least `same_meaning` joins two answers.

    The discrete form of Farquhar et al., Nature 630, 2024, with word overlap instead of entailment.
    """

    base, rising = "semantic_entropy", False

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        subject.query.check_read(BLANKS)
        sizes = meanings(_several(answers), subject.query.settings.same_meaning)
        return -sum(size / len(answers) * math.log(size / len(answers)) for size in sizes)


class AnswerLength(OfAnswers):
    """Number of tokens in the answer, averaged over seeds.

    A simple count.
    """

    base = "answer_length"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, lambda answer: answer.tokens, "no count of tokens")


class TextChange(Predictor):
    """1 − word F1 between the answer and the zero-shot answer with the same seed, averaged over seeds.

    Words are normalised as in SQuAD.
    """

    name, stage, of_k, of_ordering = "text_change", AFTER_ANSWER, True, True

    def value(self, subject: Subject) -> float:
        subject.query.check_read(BLANKS)
        without = {answer.seed: answer.text for answer in subject.query.zeroshot}

        def change(answer: Answer) -> float | None:
            return 1.0 - token_f1(answer.text, without[answer.seed])[2] if answer.seed in without else None

        return over_seeds(subject.answers, change, "no answer without context of the same seed")


class ContextUse(Predictor):
    """How much the context raises the answer's log-probability per token, in nats, averaged over seeds.

    The pointwise mutual information between answer and context, per token; needs `context_use`.
    """

    name, stage, of_k, of_ordering = "context_use", AFTER_ANSWER, True, True

    def value(self, subject: Subject) -> float:
        return over_seeds(subject.answers, lambda answer: answer.context_use, "no context use in the study")
