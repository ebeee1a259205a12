"""Build the prompts for changed contexts."""

import polars as pl

from ragrelay.annexes.interventions.columns import CHANGE, KEY
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS
from ragrelay.prompting.layout import prompt_id
from ragrelay.prompting.templates import Template

COLUMNS = {**CHANGE, **{name: column for name, column in PROMPT_COLUMNS.items() if name != "qid"}}


def build_changed_prompts(
    queries: pl.DataFrame, changed: pl.DataFrame, contexts: pl.DataFrame, texts: pl.DataFrame, template: Template
) -> pl.DataFrame:
    """Build a prompt (columns COLUMNS) for each row of ``changed`` (columns contexts.COLUMNS), in the same order.

    ``contexts`` contains the texts of the retriever's passages, and ``texts`` the texts of inserted passages (columns
    qid, docno and text). If a changed context also occurs in the grid, both prompts have the same prompt_id.
    """
    text_of = {(qid, docno): text for frame in (contexts, texts)
               for qid, docno, text in frame.select("qid", "docno", "text").iter_rows()}  # fmt: skip
    rows = changed.join(queries.select("qid", "query"), on="qid", maintain_order="left")
    laid = []
    for qid, query, docnos in rows.select("qid", "query", "docnos").iter_rows():
        passages = [text_of[qid, docno] for docno in docnos]
        prompt, system = template.render(query, passages), template.system(passages)
        laid.append((prompt, system, prompt_id(prompt, system)))
    made = pl.DataFrame(laid, schema=dict.fromkeys(("prompt", "system", "prompt_id"), pl.String), orient="row")
    return rows.select(*KEY, "docnos").hstack(made).select(*schema_of(COLUMNS))
