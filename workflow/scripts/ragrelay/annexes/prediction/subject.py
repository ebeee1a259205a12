"""Define the data of predictors: a query with its ranking, the passages of a context, and answers."""

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ragrelay.annexes.prediction.terms import TERMS, TermStatistics, terms

Array = npt.NDArray[np.floating[Any]]
T = TypeVar("T")


class UndefinedError(Exception):
    """Raised if a predictor has no value for a query. The message is the reason."""


@dataclass(frozen=True)
class Settings:
    """The keys of the configuration's section ``prediction``."""

    score_depth: int = 100
    wig_depth: int = 5
    score_share: float = 0.5
    feedback_depth: int = 50
    vector_depth: int = 50
    same_meaning: float = 0.5


class Answer(NamedTuple):
    """An answer: ``logprob`` (sum over its ``tokens``), and ``token_logprobs`` and ``token_entropies`` of each token.

    ``first_token_margin``: between the two likeliest first tokens. Values that the answer store lacks are None.
    """

    seed: int
    text: str
    tokens: int
    logprob: float | None
    token_logprobs: Sequence[float] | None
    token_entropies: Sequence[float] | None
    first_token_margin: float | None = None
    context_use: float | None = None


@dataclass(frozen=True)
class Query:
    """A query and its whole ranking: ``docnos`` and ``scores`` (n,), best first.

    ``texts`` and ``context_scores``: of its context's passages, best first, to `context_depth`. ``vector`` and
    ``vectors`` (by docno): dense vectors, empty if the study has none. ``zeroshot``: the answers without context, one
    per seed. ``passage_scores``: scores of each of ``texts`` by name (model_scores.py), None without a score;
    ``whole_logprobs``: log-probability per token of the whole context after the query, by k. ``consistencies``: of the
    answers over seeds, by scorer, then by ordering and k. ``shown``: for imported answers and processed contexts, the
    query with their contexts (with_context), by ordering and k; None if contexts are the first k passages of the
    ranking.
    """

    qid: str
    text: str
    statistics: TermStatistics
    docnos: Sequence[str]
    scores: Array
    texts: Sequence[str]
    context_scores: Array
    zeroshot: Sequence[Answer] = ()
    vector: Array | None = None
    vectors: Mapping[str, Array] = field(default_factory=dict)
    settings: Settings = Settings()
    passage_scores: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    whole_logprobs: Mapping[int, float] = field(default_factory=dict)
    consistencies: Mapping[str, Mapping[tuple[str, int], float]] = field(default_factory=dict)
    shown: Mapping[tuple[str, int], "Query"] | None = None

    def with_context(
        self,
        docnos: Sequence[str],
        texts: Sequence[str],
        passage_scores: Mapping[str, Sequence[float | None]],
    ) -> "Query":
        """Return the query with these passages in place of its ranking. A passage outside the ranking has score NaN."""
        known = dict(zip(self.docnos, self.scores, strict=True))
        scores = np.array([known.get(docno, np.nan) for docno in docnos])
        return replace(
            self, docnos=docnos, scores=scores, texts=texts, context_scores=scores, passage_scores=passage_scores,
            whole_logprobs={}, shown=None,
        )  # fmt: skip

    @functools.cached_property
    def words(self) -> list[str]:
        """The stemmed words of the query, without stopwords. Raises UndefinedError where the corpus's are not read."""
        self.check_read(TERMS)
        return terms(self.text)

    @functools.cached_property
    def passages(self) -> list[Counter[str]]:
        """The stemmed words of each of ``texts``, counted. Raises UndefinedError where the corpus's are not read."""
        self.check_read(TERMS)
        return [Counter(terms(text)) for text in self.texts]

    def check_read(self, *ways: str) -> None:
        """Raise UndefinedError if the corpus has too many words that one of ``ways`` (terms.UNREAD) does not find."""
        for way in ways:
            if way in self.statistics.unread:
                raise UndefinedError(self.statistics.unread[way])

    @functools.cached_property
    def memo(self) -> dict[str, object]:
        """Keeps values that predictors share, by name."""
        return {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return the value of ``make`` at the first request for ``name``."""
        if name not in self.memo:
            self.memo[name] = make()
        return self.memo[name]  # type: ignore[return-value]


@dataclass(frozen=True)
class Subject:
    """A ``query``, its context of ``k`` passages and the ``answers`` to it in one ``ordering``, one per seed."""

    query: Query
    k: int
    answers: Sequence[Answer] = ()
    ordering: str | None = None

    @property
    def texts(self) -> Sequence[str]:
        """Texts of the context, best first. Raises UndefinedError if there are none."""
        if not self.query.texts:
            raise UndefinedError("nothing retrieved")
        return self.query.texts[: self.k]

    @property
    def scores(self) -> Array:
        """Scores of the first `score_depth` results. Raises UndefinedError if there are none."""
        if not len(self.query.scores):
            raise UndefinedError("nothing retrieved")
        return self.query.scores[: self.query.settings.score_depth]
