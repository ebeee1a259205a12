"""The interface of collections, whatever their source."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from ragrelay.vocabulary.columns import DOCNO, LABEL, QID, Column, schema_of, text

QUERY_COLUMNS = {
    "qid": QID,
    "query": text("the query's text"),
    "answers": Column(pl.List(pl.String), "gold answers; only where the dataset has them", optional=True),
}
QRELS_COLUMNS = {"qid": QID, "docno": DOCNO, "label": LABEL}
REFERENCE_COLUMNS = {**QRELS_COLUMNS, "text": text("the passage's text")}
QUERIES, QRELS = schema_of(QUERY_COLUMNS), schema_of(QRELS_COLUMNS)


class Collection(ABC):
    """Queries, judgements and passages of one dataset."""

    @abstractmethod
    def queries(self) -> pl.DataFrame:
        """Columns qid, query and, if there are gold answers, answers (list of strings); in the collection's order."""

    @abstractmethod
    def qrels(self) -> pl.DataFrame:
        """Columns qid, docno, label; one row per judged pair."""

    @abstractmethod
    def passages(self) -> Iterator[dict[str, str]]:
        """All passages as {"docno", "text"}, in the corpus's order."""

    @abstractmethod
    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        """docno → text for those of ``docnos`` that the corpus has with a text."""

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        """Passages whose characters are counted: ``judged`` (docno to text), or all where all are read anyway."""
        return judged.values()

    @abstractmethod
    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        """docno → title of the page that the passage is from, for those of ``docnos`` that have one."""

    @abstractmethod
    def corpus_identity(self) -> str:
        """What decides an index: a hash of the passages, or the corpus's catalogue id."""

    @abstractmethod
    def corpus_size(self) -> int | None:
        """How many passages the corpus has; None where its catalogue doesn't say."""
