"""Define predictors computed from answers, either zero-shot answers or answers with context."""

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
    """Return the mean of ``number`` over ``answers``, skipping answers for which ``number`` returns None.

    Raises UndefinedError if there are no answers or, with the message ``missing``, if all answers are skipped.
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
    """Cluster answers by meaning, and return the clusters' sizes.

    An answer joins the first cluster whose first answer is similar (word F1 >= ``same``), or starts a new cluster.
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
    """Base class for predictors computed from all answers to a prompt, either with context or zero-shot."""

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
        """Compute the predictor's value from ``answers``. Raises UndefinedError if there is no value."""
        raise NotImplementedError

    def value(self, subject: Subject) -> float:
        return self.of_answers(subject.query.zeroshot if self.zeroshot else subject.answers, subject)


class AnswerLogprob(OfAnswers):
    """The answer's log-probability per token in nats, averaged over seeds.

    Uses the model's probabilities before temperature is applied; exp(−value) is the perplexity.
    """

    base = "answer_logprob"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, per_token, "no log-probability")


class AnswerProbability(OfAnswers):
    """Mean probability of the answer's tokens, averaged over seeds.

    Called PerpA in Tian et al. 2026, and `prob(k)` in their code.
    """

    base = "answer_probability"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, mean_probability, "no log-probabilities of tokens")


class FirstTokenLogprob(OfAnswers):
    """Log-probability of the answer's first token in nats, averaged over seeds.

    A simple statistic of the model's log-probabilities, before temperature is applied.
    """

    base = "first_token_logprob"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(
            answers,
            lambda answer: answer.token_logprobs[0] if answer.token_logprobs else None,
            "no log-probabilities of tokens",
        )


class FirstTokenMargin(OfAnswers):
    """ln p₁ − ln p₂, averaged over seeds, where p₁ and p₂ are the probabilities of the two likeliest first tokens.

    The margin of Scheffer, Decomain and Wrobel, IDA 2001, on a log scale. Uses the model's probabilities before
    temperature is applied, whichever token was sampled.
    """

    base = "first_token_margin"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, lambda answer: answer.first_token_margin, "no margin of the first token")


class MeanEntropy(OfAnswers):
    """Entropy in nats over the 20 likeliest candidates for each token, averaged over tokens and seeds.

    Predictive uncertainty, as in Malinin and Gales, ICLR 2021.
    """

    base, rising = "mean_entropy", False

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        return over_seeds(answers, mean_entropy, "no entropies of tokens")


class Consistency(OfAnswers):
    """Share of seed pairs whose answers are identical after SQuAD's normalisation.

    Self-consistency: Wang et al., ICLR 2023.
    """

    base = "agreement"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        pairs = list(combinations([words(answer.text) for answer in _several(answers)], 2))
        return sum(one == other for one, other in pairs) / len(pairs)


class ConsistencyF1(OfAnswers):
    """Word F1 between two seeds' answers, averaged over all pairs of seeds.

    Self-consistency with SQuAD's F1 as a soft match (Rajpurkar et al., EMNLP 2016).
    """

    base = "agreement_f1"

    def of_answers(self, answers: Sequence[Answer], subject: Subject) -> float:
        subject.query.check_read(BLANKS)
        values = [token_f1(one.text, other.text)[2] for one, other in combinations(_several(answers), 2)]
        return sum(values) / len(values)


class SemanticEntropy(OfAnswers):
    """−Σ p · ln p, where p is a cluster's share of the answers; similar answers (F1 ≥ `same_meaning`) form a cluster.

    Discrete semantic entropy (Farquhar et al., Nature 630, 2024), with word overlap instead of entailment.
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

    Pointwise mutual information between answer and context, per token. Requires `context_use`.
    """

    name, stage, of_k, of_ordering = "context_use", AFTER_ANSWER, True, True

    def value(self, subject: Subject) -> float:
        return over_seeds(subject.answers, lambda answer: answer.context_use, "no context use in the study")
