"""Define the interface to a dataset's queries, judgements and passages."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, Column, schema_of, text

QUERY_COLUMNS = {
    "qid": QID,
    "query": text("the query's text"),
    "answers": Column(
        pl.List(pl.String), "the query's gold answers; datasets without gold answers lack this column", optional=True
    ),
}
QRELS_COLUMNS = {"qid": QID, "docno": DOCNO, "label": LABEL}
REFERENCE_COLUMNS = {**QRELS_COLUMNS, "text": text("the passage's text")}
QUERIES, QRELS = schema_of(QUERY_COLUMNS), schema_of(QRELS_COLUMNS)


class Collection(ABC):
    """The interface to a dataset's queries, judgements and passages."""

    @abstractmethod
    def queries(self) -> pl.DataFrame:
        """Read the queries.

        Returns:
            Columns qid, query and, if there are gold answers, answers (lists of strings), in the collection's order.
        """

    @abstractmethod
    def qrels(self) -> pl.DataFrame:
        """Read the relevance judgements.

        Returns:
            A table (qid, docno, label) with one row per judged query-passage pair.
        """

    @abstractmethod
    def passages(self) -> Iterator[dict[str, str]]:
        """Iterate over all passages in corpus order.

        Returns:
            Mappings ``{"docno": ..., "text": ...}``.
        """

    @abstractmethod
    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        """Look up the texts of passages.

        Args:
            docnos: Passage ids.

        Returns:
            Texts by docno. Passages without a text in the corpus are left out.
        """

    def counted_texts(self, judged: Mapping[str, str]) -> Iterable[str]:
        """Choose the texts in which to count invisible characters.

        Args:
            judged: The judged passages' texts by docno.

        Returns:
            The texts in ``judged``; if the collection reads all passages anyway, the texts of all passages.
        """
        return judged.values()

    @abstractmethod
    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        """Look up the titles of the pages that passages come from.

        Args:
            docnos: Passage ids.

        Returns:
            Titles by docno. Passages without a title are left out.
        """

    @abstractmethod
    def corpus_identity(self) -> str:
        """Return an identifier for the corpus, so that datasets with the same corpus share indexes.

        Returns:
            A hash of the passages, or the corpus's id in a catalogue.
        """

    @abstractmethod
    def corpus_size(self) -> int | None:
        """Count the passages in the corpus.

        Returns:
            The number of passages, or None if the corpus comes from a catalogue that doesn't report it.
        """
