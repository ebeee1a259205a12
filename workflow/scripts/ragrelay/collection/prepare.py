"""The collection stage: queries, judgements and references as tables, with what had to be left out counted."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError


def prepare(
    collection: Collection, grades: Mapping[str, int], place: str
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, list[dict[str, Any]]]:
    """Read a collection and check it.

    Returns queries (qid, query[, answers]; those with a judgement), qrels (qid, docno, label; of those queries),
    references (qid, docno, label, text; judged at or above the lowest grade, with text, by query then docno) and
    the counts of what was left out (what, count, detail). ``grades`` maps grade name to lowest label.
    Raises InputError where no query is judged, a grade has no reference for any query, or none of the gold answers is
    a query's.
    """
    queries, qrels = collection.queries(), collection.qrels()
    judged = queries.filter(pl.col("qid").is_in(qrels["qid"].unique().implode()))
    if judged.is_empty():
        raise InputError(f"qrels of {place}", "no judgement for any query", "qids shared by queries and qrels")
    known = qrels.filter(pl.col("qid").is_in(judged["qid"].implode()))
    left_out = [
        _count("queries without judgements", len(queries) - len(judged)),
        _count("judgements for unknown queries", len(qrels) - len(known)),
    ]
    lowest = min(grades.values())
    wanted = known.filter(pl.col("label") >= lowest)
    texts = collection.texts(known["docno"].unique().to_list())
    order = judged.select("qid").with_row_index("place")
    references = (
        wanted.with_columns(text=pl.col("docno").replace_strict(texts, default=None, return_dtype=pl.String))
        .drop_nulls("text")
        .join(order, on="qid")
        .sort("place", "docno")
        .drop("place")
    )
    without_text = known.filter(~pl.col("docno").is_in(list(texts)))
    left_out.append(_count("judged passages without text", without_text["docno"].n_unique()))
    left_out.append(_count("references without text", len(wanted) - len(references)))
    for grade, label in grades.items():
        have = references.filter(pl.col("label") >= label)["qid"].n_unique()
        if have == 0:
            raise InputError(
                f"qrels of {place}",
                f"no passage with label ≥ {label} and text for any query",
                f"references at grade {grade!r}",
            )
        left_out.append(_count(f"queries without a {grade} reference", len(judged) - have))
    if "answers" in judged.columns:
        left_out.append(_count_without_gold(judged, place))
    return judged, known, references, left_out


def _count_without_gold(queries: pl.DataFrame, place: str) -> dict[str, Any]:
    have = sum(any(text.strip() for text in given or ()) for given in queries["answers"].to_list())
    if not have:
        raise InputError(f"gold answers of {place}", "none for any query", "qids shared by queries and gold answers")
    return _count("queries without a gold answer", len(queries) - have)


def _count(what: str, count: int) -> dict[str, Any]:
    return {"what": what, "count": count}
