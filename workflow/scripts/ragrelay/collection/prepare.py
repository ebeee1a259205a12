"""Prepare a dataset's tables of queries, judgements and references, and count the data left out."""

from collections.abc import Mapping

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.characters import count_unseen
from ragrelay.collection.base import Collection


def prepare_collection(
    collection: Collection, place: str, drop_identical_ids: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame, list[dict[str, object]]]:
    """Read a collection's queries and judgements, and count the data left out.

    Returns the queries that have judgements (qid, query[, answers]), their qrels (qid, docno, label), and the counts
    (what, count). With ``drop_identical_ids``, one of the counts is the number of passages left out of a query's
    rankings because passage and query have the same id. Raises InputError if no query has a judgement, or if there are
    gold answers but none for a judged query.
    """
    queries, qrels = collection.queries(), collection.qrels()
    judged = judged_queries(queries, qrels)
    if judged.is_empty():
        raise InputError(f"qrels of {place}", "no judgements for any query", "judgements for at least one query")
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
    """Select the references for ``queries`` (qid, ...) according to the judgements ``qrels`` (qid, docno, label).

    References are passages that have a text and a label at or above the lowest grade. Returns the references (qid,
    docno, label, text), sorted by query and docno, and counts (what, count) of data that is left out. ``grades``: each
    grade's lowest label, keyed by the grade's name. Raises InputError if a grade has no reference for any query.
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
                f"no passage with text and a label ≥ {label} for any query",
                f"at least one reference for grade {grade!r}",
            )
        left_out.append(_count(f"queries without a {grade} reference", len(queries) - have))
    return references, left_out


def judged_queries(queries: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """Return the ``queries`` (qid, ...) that have at least one judgement in ``qrels`` (qid, ...)."""
    return queries.filter(pl.col("qid").is_in(qrels["qid"].unique().implode()))


def _count_without_gold(queries: pl.DataFrame, place: str) -> dict[str, object]:
    have = sum(any(text.strip() for text in gold or ()) for gold in queries["answers"].to_list())
    if not have:
        raise InputError(f"gold answers of {place}", "no answers for any query", "gold answers for the dataset's qids")
    return _count("queries without a gold answer", len(queries) - have)


def _count(what: str, count: int) -> dict[str, object]:
    return {"what": what, "count": count}
