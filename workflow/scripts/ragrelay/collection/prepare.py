"""Prepare a dataset's tables of queries, judgements and references, and count the data left out."""

from collections.abc import Mapping

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import count_unseen
from ragrelay.collection.base import Collection


def prepare_collection(
    collection: Collection, place: str, drop_identical_ids: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame, list[dict[str, object]]]:
    """Read a collection and check it.

    Returns the queries that have judgements (qid, query[, answers]), their qrels (qid, docno, label), and counts of the
    data left out (what, count). With ``drop_identical_ids``, one count is of the passages that have the id of a query
    and are left out of its rankings. Raises InputError if no query has a judgement, or if there are gold answers but
    none for a judged query.
    """
    queries, qrels = collection.queries(), collection.qrels()
    judged = judged_queries(queries, qrels)
    if judged.is_empty():
        raise InputError(f"qrels of {place}", "no judgement for any query", "qids that queries and qrels share")
    known = qrels.filter(pl.col("qid").is_in(judged["qid"].implode()))
    docnos = known["docno"].unique()
    texts = collection.texts(docnos.to_list())
    unseen = count_unseen("queries", judged["query"]) | count_unseen("passages", collection.counted_texts(texts))
    left_out = [
        _count("queries without judgements", len(queries) - len(judged)),
        _count("judgements for unknown queries", len(qrels) - len(known)),
        _count("judged passages without text", len(docnos) - len(texts)),
        *(_count(what, count) for what, count in unseen.items()),
    ]
    if drop_identical_ids:
        identical = len(collection.texts(judged["qid"].to_list()))
        left_out.append(_count("passages with the id of a query, left out of its rankings", identical))
    if "answers" in judged.columns:
        left_out.append(_count_without_gold(judged, place))
    return judged, known, left_out


def prepare_references(
    collection: Collection, queries: pl.DataFrame, qrels: pl.DataFrame, grades: Mapping[str, int], place: str
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Return the references for ``queries`` (qid, ...), chosen by their judgements ``qrels`` (qid, docno, label).

    References (qid, docno, label, text) are the passages that have a text and a label at or above the lowest grade,
    sorted by query and docno. Also returns counts of the data left out (what, count). ``grades`` maps each grade's name
    to its lowest label. Raises InputError if a grade has no reference for any query.
    """
    wanted = qrels.filter(pl.col("label") >= min(grades.values()))
    texts = collection.texts(wanted["docno"].unique().to_list())
    order = queries.select("qid").with_row_index("place")
    references = (
        wanted.with_columns(text=pl.col("docno").replace_strict(texts, default=None, return_dtype=pl.String))
        .drop_nulls("text")
        .join(order, on="qid")
        .sort("place", "docno")
        .drop("place")
    )
    left_out = [_count("references without text", len(wanted) - len(references))]
    for grade, label in grades.items():
        have = references.filter(pl.col("label") >= label)["qid"].n_unique()
        if have == 0:
            raise InputError(
                f"qrels of {place}",
                f"no passage with label ≥ {label} and text for any query",
                f"at least one reference at grade {grade!r}",
            )
        left_out.append(_count(f"queries without a {grade} reference", len(queries) - have))
    return references, left_out


def judged_queries(queries: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in ``queries`` (qid, ...) whose query has a judgement in ``qrels`` (qid, ...)."""
    return queries.filter(pl.col("qid").is_in(qrels["qid"].unique().implode()))


def _count_without_gold(queries: pl.DataFrame, place: str) -> dict[str, object]:
    have = sum(any(text.strip() for text in gold or ()) for gold in queries["answers"].to_list())
    if not have:
        raise InputError(f"gold answers of {place}", "none for any query", "qids that queries and gold answers share")
    return _count("queries without a gold answer", len(queries) - have)


def _count(what: str, count: int) -> dict[str, object]:
    return {"what": what, "count": count}
