"""A small collection, and changed contexts of it, for tests of interventions."""

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
from ragrelay.annexes.interventions.contexts import Changed, change_contexts
from ragrelay.collection.base import Collection

LABELS = {"a": 3, "b": 0, "c": None, "d": 2, "e": 0, "f": 2, "g": 0, "h": 1}
"""Of every query's passages; the first three are its context."""
WORDS = {"d": 10, "e": 30, "f": 11, "g": 11, "h": 10}
SWAP = {"kind": "swap", "retrievers": ["bm25"]}
LEAVE_OUT = {"kind": "leave_out", "retrievers": ["bm25"]}
DUPLICATE = {"kind": "duplicate", "retrievers": ["bm25"]}


def text_of(docno: str) -> str:
    """Words of its own."""
    return " ".join(f"{docno}{place}" for place in range(WORDS.get(docno, 10)))


class Passages(Collection):
    """Passages by docno; ``texts`` are other texts than their own."""

    def __init__(self, **texts: str) -> None:
        self.given = texts

    def texts(self, docnos: Iterable[str]) -> dict[str, str]:
        return {docno: self.given.get(docno, text_of(docno)) for docno in docnos}

    def passages(self) -> Iterator[dict[str, str]]:
        raise NotImplementedError

    def queries(self) -> pl.DataFrame:
        raise NotImplementedError

    def qrels(self) -> pl.DataFrame:
        raise NotImplementedError

    def titles(self, docnos: Iterable[str]) -> dict[str, str]:
        raise NotImplementedError

    def corpus_identity(self) -> str:
        raise NotImplementedError

    def corpus_size(self) -> int | None:
        raise NotImplementedError


def contexts_of(qids: Iterable[str], ranked: str = "abc") -> pl.DataFrame:
    """Contexts of the same passages."""
    return pl.DataFrame(
        [(qid, rank, docno, LABELS[docno], text_of(docno)) for qid in qids for rank, docno in enumerate(ranked, 1)],
        schema={"qid": pl.String, "rank": pl.Int64, "docno": pl.String, "label": pl.Int64, "text": pl.String},
        orient="row",
    )


def changed(
    definitions: dict[str, dict[str, Any]],
    qids: Iterable[str] = ("q1",),
    ks: tuple[int, ...] = (3,),
    ordering: str = "descending",
    near_copy: float | None = 0.5,
    left_out: str = "",
    own_passages: bool = True,
    **texts: str,
) -> Changed:
    """Changed contexts of ``qids``; ``left_out``: docnos that no query has judgements of."""
    judged = [(qid, docno, label) for qid in qids for docno, label in LABELS.items()
              if label is not None and docno not in left_out]  # fmt: skip
    qrels = pl.DataFrame(judged, schema={"qid": pl.String, "docno": pl.String, "label": pl.Int64}, orient="row")
    queries = pl.DataFrame({"qid": list(qids), "query": [f"query {qid}" for qid in qids]})
    return change_contexts(
        definitions,
        queries,
        contexts_of(qids),
        qrels,
        Passages(**texts),
        ks,
        [ordering],
        "nDCG",
        2,
        near_copy,
        own_passages,
    )
