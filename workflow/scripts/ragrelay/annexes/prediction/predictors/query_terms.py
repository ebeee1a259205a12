"""Define predictors computed before retrieval, from the query's words and their corpus statistics."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragrelay.annexes.prediction.predictor import BEFORE_RETRIEVAL, Predictor
from ragrelay.annexes.prediction.subject import Query, Subject, UndefinedError
from ragrelay.annexes.prediction.terms import TermStatistics, Word, pairs_of

UNKNOWN = Word(1, 1, 1.0, 1.0)
"""Counts used for a word that no passage contains: one occurrence in one passage, as in the paper's code."""
AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "max": max,
    "sum": sum,
}


def idf(statistics: TermStatistics, word: str) -> float:
    """Return the word's IDF, ln((N - df + 0.5) / (df + 0.5)), where df of the corpus's N passages contain the word."""
    df = statistics.words.get(word, UNKNOWN).passages
    return math.log((statistics.passages - df + 0.5) / (df + 0.5))


def query_words(query: Query) -> list[str]:
    """Return the query's words without stopwords. Raises UndefinedError if no words are left."""
    if not query.words:
        raise UndefinedError("no word but stopwords in the query")
    return query.words


class QueryLength(Predictor):
    """Number of words in the query, without stopwords.

    He and Ounis, SPIRE 2004.
    """

    name, stage = "query_length", BEFORE_RETRIEVAL

    def value(self, subject: Subject) -> float:
        return len(subject.query.words)


class OfWords(Predictor):
    """Base class for predictors that aggregate a value over the query's words (mean, maximum or sum)."""

    stage = BEFORE_RETRIEVAL
    prefix: str

    def __init__(self, aggregate: str) -> None:
        self.name, self.aggregate = f"{self.prefix}_{aggregate}", AGGREGATES[aggregate]

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        if cls is not OfWords:
            yield from (cls(aggregate) for aggregate in AGGREGATES)

    def of_word(self, statistics: TermStatistics, word: str) -> float:
        """Compute the value for one query word, before aggregation."""
        raise NotImplementedError

    def value(self, subject: Subject) -> float:
        query = subject.query
        return self.aggregate([self.of_word(query.statistics, word) for word in query_words(query)])


class Idf(OfWords):
    """Mean, maximum and sum of ln((N − df + 0.5) / (df + 0.5)) over query words; df of N passages contain the word.

    Robertson and Sparck Jones 1976; used as a predictor by Cronen-Townsend et al., SIGIR 2002.
    """

    prefix = "idf"

    def of_word(self, statistics: TermStatistics, word: str) -> float:
        return idf(statistics, word)


class Ictf(OfWords):
    """Mean, maximum and sum of ln(|C| / cf) over query words; a word occurs cf times in the corpus of |C| words.

    Kwok 1996; He and Ounis, SPIRE 2004.
    """

    prefix = "ictf"

    def of_word(self, statistics: TermStatistics, word: str) -> float:
        return math.log(statistics.tokens / statistics.words.get(word, UNKNOWN).occurrences)


class Scq(OfWords):
    """Mean, maximum and sum of the query words' similarities to the collection, (1 + ln cf) · ln(1 + N / df).

    Zhao, Scholer and Tsegay, ECIR 2008.
    """

    prefix = "scq"

    def of_word(self, statistics: TermStatistics, word: str) -> float:
        counts = statistics.words.get(word, UNKNOWN)
        return (1.0 + math.log(counts.occurrences)) * math.log(1.0 + statistics.passages / counts.passages)


class Var(OfWords):
    """For each query word, the standard deviation of (1 + ln tf) · ln(1 + N / df) over the passages with the word; then
    the mean, maximum or sum over words.

    Zhao, Scholer and Tsegay, ECIR 2008.
    """

    prefix = "var"

    def of_word(self, statistics: TermStatistics, word: str) -> float:
        counts = statistics.words.get(word, UNKNOWN)
        mean = counts.logs / counts.passages
        variance = max(counts.squares / counts.passages - mean * mean, 0.0)
        return math.sqrt(variance) * math.log(1.0 + statistics.passages / counts.passages)


class Scs(Predictor):
    """Simplified clarity score: Σ P(w|q) · log2(P(w|q) / P(w|C)) over the query's words.

    He and Ounis, SPIRE 2004.
    """

    name, stage = "scs", BEFORE_RETRIEVAL

    def value(self, subject: Subject) -> float:
        query = subject.query
        counts, statistics = Counter(query_words(query)), query.statistics
        total = counts.total()
        return sum(
            n / total * math.log2(n / total * statistics.tokens / statistics.words.get(word, UNKNOWN).occurrences)
            for word, n in counts.items()
        )


class Pmi(Predictor):
    """Mean and maximum of ln(N · df(a, b) / (df(a) · df(b))) over pairs of the query's words.

    Pairs that never occur in the same passage are left out. Hauff, PhD thesis, University of Twente 2010.
    """

    stage = BEFORE_RETRIEVAL

    def __init__(self, aggregate: str = "mean") -> None:
        self.name, self.aggregate = f"pmi_{aggregate}", AGGREGATES[aggregate]

    @classmethod
    def instances(cls, named: Mapping[str, object]) -> Iterator[Predictor]:
        yield from (cls(aggregate) for aggregate in ("mean", "max"))

    def value(self, subject: Subject) -> float:
        query, statistics = subject.query, subject.query.statistics
        together = [(pair, statistics.pairs.get(pair, 0)) for pair in pairs_of(query_words(query))]
        if not together:
            raise UndefinedError("fewer than two words in the query")
        values = [
            math.log(statistics.passages * both / math.prod(statistics.words[word].passages for word in pair))
            for pair, both in together
            if both
        ]
        if not values:
            raise UndefinedError("no passage has two of the query's words")
        return self.aggregate(values)
