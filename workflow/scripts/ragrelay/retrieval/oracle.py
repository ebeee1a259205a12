"""Oracle retrievers: passages drawn from the judgements, the upper and lower bounds of Tian et al. (ECIR 2025)."""

import random
from collections.abc import Mapping
from typing import Any

import polars as pl

from ragrelay.hashing import text_hash
from ragrelay.retrieval.trec import RUN


def oracle_run(qrels: pl.DataFrame, definition: Mapping[str, Any], texts: Mapping[str, str]) -> pl.DataFrame:
    """A run (qid, docno, score) of the judged passages with text whose label lies within the definition's bounds.

    All of a query's passages stand in one permutation decided by (seed, qid); the score falls with the place, so that
    contexts nest as k grows and ``descending`` is the sampling order.
    """
    lowest, highest = definition.get("min_label"), definition.get("max_label")
    rows = []
    for (qid,), judged in qrels.sort("docno").group_by("qid", maintain_order=True):
        docnos = [
            docno
            for docno, label in judged.select("docno", "label").iter_rows()
            if (lowest is None or label >= lowest) and (highest is None or label <= highest) and docno in texts
        ]
        random.Random(int(text_hash(f"{definition['seed']}\t{qid}")[:16], 16)).shuffle(docnos)
        rows += [(qid, docno, float(len(docnos) - place)) for place, docno in enumerate(docnos)]
    return pl.DataFrame(rows, schema=RUN, orient="row")
