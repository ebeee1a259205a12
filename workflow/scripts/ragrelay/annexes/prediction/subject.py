"""Define the data that predictors use: a query, its ranking, the passages in its context, and answers."""

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
    """Raised if a predictor has no value for a query. The message gives the reason."""


@dataclass(frozen=True)
class Settings:
    """The keys in the configuration's section ``prediction`` that predictors use."""

    score_depth: int = 100
    wig_depth: int = 5
    score_share: float = 0.5
    feedback_depth: int = 50
    vector_depth: int = 50
    same_meaning: float = 0.5


class Answer(NamedTuple):
    """An answer with its token scores; values missing from the answer store are None.

    Args:
        seed: The sampling seed.
        text: The answer's text.
        tokens: Number of tokens in the answer.
        logprob: Log-probability of the complete answer, in nats.
        token_logprobs: Each token's log-probability (n_tokens,), in nats.
        token_entropies: Entropy at each token's position (n_tokens,), in nats.
        first_token_margin: Difference between the log-probabilities of the two likeliest first tokens.
        context_use: How much the context raises the answer's log-probability per token, in nats.
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
    """A query with its ranking, the passages in its context and its zero-shot answers."""

    qid: str
    """The query's id."""
    text: str
    """The query's text."""
    statistics: TermStatistics
    """Term statistics for the corpus."""
    docnos: Sequence[str]
    """Ids in the complete ranking (n,), best first."""
    scores: Array
    """The retrieval scores of ``docnos``, (n,)."""
    texts: Sequence[str]
    """Texts of the context's passages, best first, down to `context_depth`."""
    context_scores: Array
    """Retrieval scores for ``texts``."""
    zeroshot: Sequence[Answer] = ()
    """The answers without context, one per seed."""
    vector: Array | None = None
    """The query's dense vector; None if the study has none."""
    vectors: Mapping[str, Array] = field(default_factory=dict)
    """Passages' dense vectors, keyed by docno; empty if the study has none."""
    settings: Settings = Settings()
    """The keys in the configuration's section ``prediction``."""
    passage_scores: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """Models' scores for the passages in ``texts``, keyed by the score's name; None for a missing score."""
    whole_logprobs: Mapping[int, float] = field(default_factory=dict)
    """Log-probability per token of the complete context after the query, keyed by k."""
    consistencies: Mapping[str, Mapping[tuple[str, int], float]] = field(default_factory=dict)
    """The answers' consistency over seeds, keyed by scorer, then by ordering and k."""
    shown: Mapping[tuple[str, int], "Query"] | None = None
    """For imported answers and processed contexts, a copy of the query per ordering and k with the context's passages.

    None if every context consists of the ranking's first k passages."""

    def with_context(
        self,
        docnos: Sequence[str],
        texts: Sequence[str],
        passage_scores: Mapping[str, Sequence[float | None]],
    ) -> "Query":
        """Return a copy of the query whose ranking consists of a context's passages.

        Args:
            docnos: The passages' ids.
            texts: The passages' texts.
            passage_scores: Models' scores for the passages, keyed by the score's name.

        Returns:
            The new query. Passages outside the ranking have NaN as their retrieval score.
        """
        known = dict(zip(self.docnos, self.scores, strict=True))
        scores = np.array([known.get(docno, np.nan) for docno in docnos])
        return replace(
            self, docnos=docnos, scores=scores, texts=texts, context_scores=scores, passage_scores=passage_scores,
            whole_logprobs={}, shown=None,
        )  # fmt: skip

    @functools.cached_property
    def words(self) -> list[str]:
        """The query's stemmed words, without stopwords.

        Raises:
            UndefinedError: The tokenizer for term statistics misses too many words in the queries or passages.
        """
        self.check_read(TERMS)
        return terms(self.text)

    @functools.cached_property
    def passages(self) -> list[Counter[str]]:
        """Word counts (stemmed, without stopwords) for each text in ``texts``.

        Raises:
            UndefinedError: The tokenizer for term statistics misses too many words in the queries or passages.
        """
        self.check_read(TERMS)
        return [Counter(terms(text)) for text in self.texts]

    def check_read(self, *ways: str) -> None:
        """Check that methods of splitting text into words work on this corpus.

        Args:
            *ways: Names of the methods (keys of terms.UNREAD).

        Raises:
            UndefinedError: One of the methods misses too many words in the queries or passages.
        """
        for way in ways:
            if way in self.statistics.unread:
                raise UndefinedError(self.statistics.unread[way])

    @functools.cached_property
    def memo(self) -> dict[str, object]:
        """Values that predictors share, keyed by name; each value is computed once per query."""
        return {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return a value that is computed once per query and shared by all predictors.

        Args:
            name: The value's name.
            make: The function that computes the value on the first call.

        Returns:
            The value.
        """
        if name not in self.memo:
            self.memo[name] = make()
        return self.memo[name]  # type: ignore[return-value]


@dataclass(frozen=True)
class Subject:
    """A query with one context and the answers generated from that context."""

    query: Query
    """The query."""
    k: int
    """The number of passages in the context."""
    answers: Sequence[Answer] = ()
    """The answers, one per seed."""
    ordering: str | None = None
    """The context's ordering."""

    @property
    def texts(self) -> Sequence[str]:
        """Texts of the context's passages, best first.

        Raises:
            UndefinedError: Nothing was retrieved.
        """
        if not self.query.texts:
            raise UndefinedError("nothing retrieved")
        return self.query.texts[: self.k]

    @property
    def scores(self) -> Array:
        """Retrieval scores for the first `score_depth` results.

        Raises:
            UndefinedError: Nothing was retrieved.
        """
        if not len(self.query.scores):
            raise UndefinedError("nothing retrieved")
        return self.query.scores[: self.query.settings.score_depth]
