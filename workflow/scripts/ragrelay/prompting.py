"""The prompting stage: every ordering and k of a retriever's contexts, laid out by a template."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragrelay.hashing import text_hash
from ragrelay.orderings import ordered
from ragrelay.prompts import Template

SCHEMA: dict[str, Any] = {"qid": pl.String, "docnos": pl.List(pl.String), "prompt": pl.String, "prompt_id": pl.String}


def zeroshot_prompts(queries: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Prompts without context for ``queries`` (qid, query): qid, docnos (empty), prompt, prompt_id."""
    rows = [_row(qid, [], template.render(query, [])) for qid, query in queries.select("qid", "query").iter_rows()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def kshot_prompts(
    queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, ordering: str, k: int
) -> pl.DataFrame:
    """Prompts with the top k of ``contexts`` (qid, rank, docno, text) in ``ordering``, in the order of ``queries``.

    Returns qid, docnos (in prompt order), prompt, prompt_id (SHA-256 of the prompt). A query with fewer than k
    passages gets all it has; one without any gets no row.
    """
    top = contexts.filter(pl.col("rank") <= k).sort("rank").group_by("qid", maintain_order=True).agg("docno", "text")
    found = {qid: list(zip(docnos, texts, strict=True)) for qid, docnos, texts in top.iter_rows()}
    rows = []
    for qid, query in queries.select("qid", "query").iter_rows():
        if qid in found:
            passages = ordered(found[qid], ordering, key=qid)
            rows.append(
                _row(qid, [docno for docno, _ in passages], template.render(query, [text for _, text in passages]))
            )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(qid: str, docnos: Sequence[str], prompt: str) -> tuple[str, list[str], str, str]:
    return qid, list(docnos), prompt, text_hash(prompt)
