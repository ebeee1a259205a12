"""Define predictors that measure answers' self-consistency over seeds with a configured scorer."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragrelay.annexes.prediction.predictor import AFTER_ANSWER, BEFORE_ANSWER, Predictor
from ragrelay.annexes.prediction.predictors.answers import PREFIX, Consistency, ConsistencyF1
from ragrelay.annexes.prediction.subject import Subject, UndefinedError
from ragrelay.base.vocabulary.names import NO_ORDERING

START = f"{Consistency.base}_"
OWN = (Consistency.base, ConsistencyF1.base)


def scorers_of(names: Iterable[str]) -> list[str]:
    """Return the scorers that appear in the predictors' ``names``, without duplicates."""
    bases = (name.removeprefix(PREFIX) for name in names)
    return list(dict.fromkeys(base[len(START) :] for base in bases if base.startswith(START) and base not in OWN))


class ScorerConsistency(Predictor):
    """Mean score (F1, if available) over all pairs of answers to a prompt, using the scorer in the predictor's name.

    There is one such predictor for each scorer in `prediction.agreement_scorers`. It measures self-consistency with a
    soft match, such as BERTScore (Zhang et al., ICLR 2020).
    """

    stage = AFTER_ANSWER

    def __init__(self, scorer: str = "", zeroshot: bool = False) -> None:
        self.scorer, self.zeroshot = scorer, zeroshot
        self.name = f"{PREFIX if zeroshot else ''}{START}{scorer}"
        self.stage = BEFORE_ANSWER if zeroshot else AFTER_ANSWER  # type: ignore[misc]
        self.of_k = self.of_ordering = not zeroshot  # type: ignore[misc]

    @classmethod
    def instances(cls, named: Mapping[str, Any]) -> Iterator[Predictor]:
        yield from (cls(scorer, zeroshot) for scorer in named.get("scorers", ()) for zeroshot in (True, False))

    def value(self, subject: Subject) -> float:
        context = (NO_ORDERING, 0) if self.zeroshot else (str(subject.ordering), subject.k)
        consistency = subject.query.consistencies.get(self.scorer, {}).get(context)
        if consistency is None:
            raise UndefinedError("fewer than two seeds")
        return consistency
