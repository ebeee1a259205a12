"""The prompting stage: every ordering and k of a retriever's contexts, laid out by a template."""

from collections.abc import Sequence

import polars as pl

from ragrelay.io.hashing import text_hash, value_hash
from ragrelay.prompting.templates import Template
from ragrelay.vocabulary.columns import QID, Column, schema_of, text
from ragrelay.vocabulary.orderings import ordered

COLUMNS = {
    "qid": QID,
    "docnos": Column(pl.List(pl.String), "ids of the passages of the context, in prompt order"),
    "prompt": text("the prompt; with a chat template, its user part"),
    "system": text("system part of a chat; empty without one"),
    "prompt_id": text("hash of the prompt's texts, by which answers are cached"),
}
SCHEMA = schema_of(COLUMNS)


def zeroshot_prompts(queries: pl.DataFrame, template: Template) -> pl.DataFrame:
    """Prompts without context for ``queries`` (qid, query): qid, docnos (empty), prompt, system, prompt_id."""
    rows = [_row(qid, query, [], template) for qid, query in queries.select("qid", "query").iter_rows()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def kshot_prompts(
    queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, ordering: str, k: int
) -> pl.DataFrame:
    """Prompts with the top k of ``contexts`` (qid, rank, docno, text) in ``ordering``, in the order of ``queries``.

    Returns qid, docnos (in prompt order), prompt, system (the system part of a chat, else empty), prompt_id (see
    prompt_id). A query with fewer than k passages gets all it has; one without any gets no row.
    """
    top = contexts.filter(pl.col("rank") <= k).sort("rank").group_by("qid", maintain_order=True).agg("docno", "text")
    passages = {qid: list(zip(docnos, texts, strict=True)) for qid, docnos, texts in top.iter_rows()}
    rows = []
    for qid, query in queries.select("qid", "query").iter_rows():
        if qid in passages:
            rows.append(_row(qid, query, ordered(passages[qid], ordering, key=qid), template))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def prompt_id(prompt: str, system: str = "") -> str:
    """SHA-256 of the prompt's text; with a system part, of both."""
    return value_hash([system, prompt], digits=64) if system else text_hash(prompt)


def _row(
    qid: str, query: str, passages: Sequence[tuple[str, str]], template: Template
) -> tuple[str, list[str], str, str, str]:
    texts = [text for _, text in passages]
    prompt, system = template.render(query, texts), template.system(texts)
    return qid, [docno for docno, _ in passages], prompt, system, prompt_id(prompt, system)
