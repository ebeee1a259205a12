"""Oracle retrievers: passages drawn from the judgements, for bounds, doses and places of relevance.

``oracle``: the upper and lower bounds of Tian et al. (ECIR 2025). ``graded``: a number of relevant passages among
non-relevant ones. ``position``: one relevant passage at a chosen place, as Liu et al. (TACL 2024) place an answer.
"""

import random
from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.io.hashing import text_hash
from ragrelay.retrieval.trec import RUN

ORACLES = ("oracle", "graded", "position")
"""Kinds of retrievers that are drawn from the judgements."""


def oracle_run(qrels: pl.DataFrame, definition: Mapping[str, Any], texts: Mapping[str, str]) -> pl.DataFrame:
    """A run (qid, docno, score) of judged passages with text; a query that the definition can't serve has no row.

    The passages of each side, relevant and non-relevant, stand in one permutation decided by (seed, qid); the score
    falls with the place, so that contexts nest as k grows and ``descending`` is the sampling order.
    """
    rows = []
    for (qid,), judged in qrels.sort("docno").group_by("qid", maintain_order=True):
        labels = {docno: label for docno, label in judged.select("docno", "label").iter_rows() if docno in texts}
        docnos = _drawn(labels, definition, f"{definition['seed']}\t{qid}")
        rows += [(qid, docno, float(len(docnos) - place)) for place, docno in enumerate(docnos)]
    return pl.DataFrame(rows, schema=RUN, orient="row")


def _drawn(labels: Mapping[str, int], definition: Mapping[str, Any], key: str) -> list[str]:
    """The query's passages, best rank first; none where there are too few."""
    lowest, highest = definition.get("min_label"), definition.get("max_label")
    if definition["kind"] == "oracle":
        return _permuted(labels, lowest, highest, key)
    relevant, others = _permuted(labels, lowest, None, key), _permuted(labels, None, highest, key)
    if definition["kind"] == "graded":
        wanted = definition["relevant"]
        return relevant[:wanted] + others if len(relevant) >= wanted else []
    before = definition["place"] - 1
    return others[:before] + relevant[:1] + others[before:] if relevant and len(others) >= before else []


def _permuted(labels: Mapping[str, int], lowest: int | None, highest: int | None, key: str) -> list[str]:
    docnos = [
        docno
        for docno, label in labels.items()
        if (lowest is None or label >= lowest) and (highest is None or label <= highest)
    ]
    random.Random(int(text_hash(key)[:16], 16)).shuffle(docnos)
    return docnos
