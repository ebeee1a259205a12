"""Read each query's references: judged passages or gold answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import composed
from ragrelay.base.io.hashing import text_hash, value_hash


@dataclass(frozen=True)
class QueryReferences:
    """A query's references: passages judged at or above the lowest reference grade, sorted by docno, or gold answers.

    ``docnos`` (None for gold answers), ``texts`` and ``labels`` have one entry per reference; ``hash`` depends on the
    texts and their order; ``place`` is the query's index in the file.
    """

    place: int
    docnos: list[str | None]
    texts: list[str]
    labels: np.ndarray
    hash: str


def read_references(path: str | Path) -> dict[str, QueryReferences]:
    """Read judged passages as references, keyed by qid, from the references' file (columns qid, docno, label, text).

    Queries without references are left out. Raises InputError if the file has duplicate passages or no references.
    """
    table = pl.read_parquet(path, columns=["qid", "docno", "label", "text"], glob=False)
    if table.is_empty():
        raise InputError(path, "no passages", "references to score answers against")
    if table.select("qid", "docno").is_duplicated().any():
        raise InputError(path, "a duplicate passage for a query", "unique pairs of qid and docno")
    queries: dict[str, QueryReferences] = {}
    for (qid,), rows in table.group_by("qid", maintain_order=True):
        by_docno = rows.sort("docno")
        texts = by_docno["text"].to_list()
        docnos, labels = by_docno["docno"].to_list(), by_docno["label"].to_numpy()
        queries[str(qid)] = QueryReferences(len(queries), docnos, texts, labels, _hash(texts))
    return queries


def read_gold(path: str | Path) -> dict[str, QueryReferences]:
    """Read gold answers as references with label 0, keyed by qid, from the queries' file (columns qid, answers).

    Queries without gold answers are left out. Raises InputError if no query has a gold answer.
    """
    table = pl.read_parquet(path, glob=False)
    answers = table["answers"].to_list() if "answers" in table.columns else [None] * len(table)
    queries: dict[str, QueryReferences] = {}
    for qid, gold in zip(table["qid"], answers, strict=True):
        if texts := sorted({text for text in gold or () if text.strip()}):
            none: list[str | None] = [None] * len(texts)
            queries[qid] = QueryReferences(len(queries), none, texts, np.zeros(len(texts), dtype=int), _hash(texts))
    if not queries:
        raise InputError(path, "no gold answers", "column answers, which a scorer with references: gold requires")
    return queries


def references_for(scorer: Mapping[str, object], path: str | Path) -> dict[str, QueryReferences]:
    """Read a scorer's references: gold answers if the definition says `references: gold`, otherwise judged passages.

    Texts are normalised to NFC.
    """
    queries = read_gold(path) if scorer.get("references") == "gold" else read_references(path)
    texts = {qid: list(map(composed, query.texts)) for qid, query in queries.items()}
    return {qid: replace(query, texts=texts[qid], hash=_hash(texts[qid])) for qid, query in queries.items()}


def _hash(texts: list[str]) -> str:
    return value_hash([text_hash(text) for text in texts], digits=64)
