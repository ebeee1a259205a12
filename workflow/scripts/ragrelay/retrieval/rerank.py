"""Reranking: MonoT5 (Nogueira et al., Findings of EMNLP 2020) by pyterrier-t5 over another retriever's top."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import polars as pl

from ragrelay.config.models import model_path
from ragrelay.hubs import check_cached
from ragrelay.retrieval.frames import as_run


def rerank_run(
    queries: pl.DataFrame, first_stage: pl.DataFrame, texts: Mapping[str, str], definition: Mapping[str, Any]
) -> pl.DataFrame:
    """Rescore the top ``depth`` with text of ``first_stage`` (qid, docno, rank, score); returns qid, docno, score."""
    from pyterrier_t5 import MonoT5ReRanker

    query_of = dict(queries.select("qid", "query").iter_rows())
    rows = [
        {"qid": qid, "query": query_of[qid], "docno": docno, "text": texts[docno], "score": score, "rank": rank - 1}
        for qid, docno, rank, score in first_stage.select("qid", "docno", "rank", "score").iter_rows()
        if rank <= definition["depth"] and docno in texts
    ]
    check_cached(definition["model"], None, f"reranker's model {definition['model']!r}")
    model = model_path(definition["model"])
    reranker = MonoT5ReRanker(tok_model=model, model=model, batch_size=definition["batch_size"], verbose=False)
    reranker.tokenizer.padding_side = "left"  # so that a score does not depend on what else is in the batch
    return as_run(reranker(pd.DataFrame(rows)))
