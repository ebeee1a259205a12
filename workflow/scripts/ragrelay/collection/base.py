"""Define the interface of collections, which all sources implement."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, Column, schema_of, text

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
        """Return qid, query and, if there are gold answers, answers (list of strings), in the collection's order."""

    @abstractmethod
    def qrels(self) -> pl.DataFrame:
        """Return qid, docno, label, with one row per judged pair."""

    @abstractmethod
    def passages(self) -> Iterator[dict[str, str]]:
        """Return all passages as {"docno", "text"}, in the corpus's order."""

    @abstractmethod
    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        """Return docno → text for those of ``docnos`` that have a text in the corpus."""

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        """Return the passages whose characters are counted: ``judged`` (docno to text), or all if read anyway."""
        return judged.values()

    @abstractmethod
    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        """Return docno → title of the passage's page, for those of ``docnos`` that have one."""

    @abstractmethod
    def corpus_identity(self) -> str:
        """Return what identifies the corpus in an index's key: a hash of the passages, or the catalogue id."""

    @abstractmethod
    def corpus_size(self) -> int | None:
        """Return the number of passages in the corpus; None if its catalogue doesn't say."""
