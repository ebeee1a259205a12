"""Build a round's prompts, and stand-in prompts for the plan if the previous round hasn't been answered yet."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.vocabulary.columns import SEED, schema_of
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS
from ragrelay.prompting.layout import prompt_id
from ragrelay.prompting.templates import Template

COLUMNS = {"qid": PROMPT_COLUMNS["qid"], "seed": SEED, **PROMPT_COLUMNS}
SCHEMA = schema_of(COLUMNS)


def round_prompts(
    queries: pl.DataFrame, states: pl.DataFrame, contexts: pl.DataFrame, texts: Mapping[str, str], template: Template
) -> pl.DataFrame:
    """Build a prompt (columns COLUMNS) for each row of ``states`` (columns queries.COLUMNS). Each prompt contains the
    question, the passages shown so far, and the new passages in ``contexts`` (columns searches.COLUMNS).
    """
    asked = states.join(contexts.select(*STATE, "docnos"), on=STATE, maintain_order="left").join(
        queries.select("qid", question="query"), on="qid", maintain_order="left"
    )
    rows = []
    for qid, seed, question, shown, new in asked.select(*STATE, "question", "shown", "docnos").iter_rows():
        docnos = [*shown, *new]
        passages = [texts[docno] for docno in docnos]
        prompt, system = template.render(question, passages), template.system(passages)
        rows.append((qid, seed, docnos, prompt, system, prompt_id(prompt, system)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def ask_next_query(
    queries: pl.DataFrame, shown: pl.DataFrame, texts: Mapping[str, str], template: Template, seeds: Sequence[int]
) -> pl.DataFrame:
    """Build the prompts that ask a model for the next query (columns COLUMNS).

    ``shown`` has columns qid, docnos and possibly seed, from the reference retriever's prompts. For questions that
    aren't in ``shown``, the prompts contain no passages.
    """
    states = queries.select("qid").join(pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64}), how="cross")
    keys = [name for name in STATE if name in shown.columns]
    docnos = states.join(shown.select(*keys, "docnos"), on=keys, how="left", maintain_order="left")
    nothing_new = states.with_columns(docnos=pl.lit([], pl.List(pl.String)))
    return round_prompts(
        queries, docnos.select(*STATE, shown=pl.col("docnos").fill_null([])), nothing_new, texts, template
    )


def estimate_round_prompts(
    queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, passages: int, seeds: Sequence[int]
) -> pl.DataFrame:
    """Build a stand-in prompt per query and seed (columns COLUMNS), from the query's first ``passages`` passages.

    ``contexts`` has columns qid, rank, docno and text. If a query has fewer passages, its passages are repeated. Each
    prompt gets a different id, because the real prompts in later rounds also differ.
    """
    ranked = contexts.sort("rank").group_by("qid", maintain_order=True).agg("docno", "text")
    found = {qid: list(zip(docnos, texts, strict=True)) for qid, docnos, texts in ranked.iter_rows()}
    rows = []
    for qid, query in queries.select("qid", "query").iter_rows():
        some = found.get(qid, [])
        laid = [some[place % len(some)] for place in range(passages)] if some else []
        texts = [text for _, text in laid]
        prompt, system = template.render(query, texts), template.system(texts)
        docnos = [docno for docno, _ in laid]
        rows += [(qid, seed, docnos, prompt, system, text_hash(f"{passages} {seed} {prompt}")) for seed in seeds]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def longest_prompts(
    queries: pl.DataFrame, contexts: Sequence[pl.DataFrame], template: Template, passages: int
) -> pl.DataFrame:
    """Build a prompt per query (columns COLUMNS; seed 0) from the ``passages`` longest passages of all retrievers."""
    every = pl.concat([frame.select("qid", "docno", "text") for frame in contexts]).unique(["qid", "docno"])
    size = -pl.col("text").str.len_bytes().cast(pl.Int64)
    ranked = every.with_columns(rank=size).sort("qid", "rank", "docno")
    return estimate_round_prompts(queries, ranked, template, passages, [0])
