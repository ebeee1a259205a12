"""Define the interface of collections, which all sources implement."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, Column, schema_of, text

QUERY_COLUMNS = {
    "qid": QID,
    "query": text("the query's text"),
    "answers": Column(pl.List(pl.String), "gold answers; only if the dataset has them", optional=True),
}
QRELS_COLUMNS = {"qid": QID, "docno": DOCNO, "label": LABEL}
REFERENCE_COLUMNS = {**QRELS_COLUMNS, "text": text("the passage's text")}
QUERIES, QRELS = schema_of(QUERY_COLUMNS), schema_of(QRELS_COLUMNS)


class Collection(ABC):
    """Interface to a dataset's queries, judgements and passages."""

    @abstractmethod
    def queries(self) -> pl.DataFrame:
        """Read the queries.

        Returns:
            Columns qid, query and, if there are gold answers, answers (list of strings), in the collection's order.
        """

    @abstractmethod
    def qrels(self) -> pl.DataFrame:
        """Read the relevance judgements.

        Returns:
            Columns qid, docno and label, one row per judged pair.
        """

    @abstractmethod
    def passages(self) -> Iterator[dict[str, str]]:
        """Iterate over all passages in the corpus's order.

        Returns:
            Mappings ``{"docno": ..., "text": ...}``.
        """

    @abstractmethod
    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        """Look up passages' texts.

        Args:
            docnos: Passage ids.

        Returns:
            Texts, keyed by docno; ids without a text in the corpus are left out.
        """

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        """Choose the texts in which characters are counted.

        Args:
            judged: The judged passages' texts, keyed by docno.

        Returns:
            The texts in ``judged``, or in all passages if the collection reads them anyway.
        """
        return judged.values()

    @abstractmethod
    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        """Look up the titles of the pages that passages come from.

        Args:
            docnos: Passage ids.

        Returns:
            Titles, keyed by docno; passages without a title are left out.
        """

    @abstractmethod
    def corpus_identity(self) -> str:
        """Identify the corpus in an index's key.

        Returns:
            A hash of the passages, or the catalogue id.
        """

    @abstractmethod
    def corpus_size(self) -> int | None:
        """Count the passages in the corpus.

        Returns:
            The number of passages; None if the corpus's catalogue doesn't give it.
        """
