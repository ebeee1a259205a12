"""Count the changes that processors made to contexts, and the prompt tokens before and after processing."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ragrelay.base.vocabulary.columns import ANSWERS_PART, CONTEXT_COLUMNS, boolean, integer, number, text
from ragrelay.retrieval.contexts import shown_texts

EFFECTS = {
    "retriever": CONTEXT_COLUMNS["retriever"],
    "of": text("name of the retriever whose passages are processed"),
    "k": CONTEXT_COLUMNS["k"],
    "n_contexts": integer("number of queries with a context before processing", "queries"),
    "n_contexts_same": integer("number of contexts in which no text was changed or moved", "queries"),
    "n_contexts_emptied": integer("number of contexts with no text left; the prompts then have no context",
                                  "queries"),
    "n_passages": integer("number of passages in the `n_contexts` contexts before processing", "passages"),
    "n_changed": integer("number of passages shown with a changed text", "passages"),
    "n_emptied": integer("number of passages with no text left after processing", "passages"),
    "n_tokens": integer("number of queries with known prompt lengths before and after processing", "queries"),
    "tokens_before": number("mean number of prompt tokens over the `n_tokens` queries, with unprocessed texts in the "
                            "grid's first ordering", "tokens"),
    "tokens_after": number("mean number of prompt tokens over the `n_tokens` queries, with processed texts",
                           "tokens"),
    "same_again": boolean("whether processing a sample of the contexts twice gave equal texts in the same order"),
    "n_reordered": integer("number of contexts in which the passages' order differs from the ranking; absent unless a "
                           "processor returns an order", "queries")._replace(optional=True),
}  # fmt: skip
COLUMNS = {**ANSWERS_PART, **EFFECTS}
"""Columns of processing.csv."""


def describe_processing(
    contexts: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]],
    bases: Mapping[str, str],
    ks: Sequence[int],
    tokens: pl.DataFrame,
    same_again: Mapping[str, bool | None],
) -> pl.DataFrame:
    """Describe the effects of processing, with a row per processed retriever and k (columns EFFECTS).

    ``contexts``: each retriever's contexts before and after processing (qid, rank, docno, text and possibly shown).
    ``bases``: the retriever whose passages are processed, keyed by processed retriever. ``tokens``: the prompt_tokens
    of one answer per retriever, k and qid (null if unknown); retrievers without rows get no token counts.
    """
    rows = [
        {"retriever": name, "of": bases[name], "k": k, "same_again": same_again[name]}
        | dict(_texts(*contexts[name], k))
        | _tokens(tokens.filter(k=k), bases[name], name)
        for name in contexts
        for k in ks
    ]
    table = pl.DataFrame(rows, schema={name: column.dtype for name, column in EFFECTS.items()})
    return table if table["n_reordered"].sum() else table.drop("n_reordered")


def _texts(before: pl.DataFrame, after: pl.DataFrame, k: int) -> Iterator[tuple[str, int]]:
    made = shown_texts(after, k).select("qid", "docno", made="text", made_place="place")
    given = shown_texts(before, k).sort("place").select("qid", "docno", "text").join(
        made, on=["qid", "docno"], how="left", maintain_order="left"
    )  # fmt: skip
    same = pl.col("text").eq(pl.col("made")).fill_null(value=False)
    both = given.with_columns(emptied=pl.col("made").is_null(), same=same)
    moved = (pl.col("made_place").drop_nulls().diff() < 0).any().alias("moved")
    of_query = both.group_by("qid").agg(pl.col("same", "emptied").all(), moved)
    yield "n_contexts", of_query.height
    yield "n_contexts_same", of_query.filter("same", ~pl.col("moved")).height
    yield "n_reordered", int(of_query["moved"].sum())
    yield "n_contexts_emptied", int(of_query["emptied"].sum())
    yield "n_passages", both.height
    yield "n_changed", both.filter(~pl.col("same") & ~pl.col("emptied")).height
    yield "n_emptied", int(both["emptied"].sum())


def _tokens(tokens: pl.DataFrame, base: str, processed: str) -> dict[str, object]:
    before, after = (
        tokens.filter(retriever=name).drop_nulls("prompt_tokens").select("qid", tokens="prompt_tokens")
        for name in (base, processed)
    )
    both = before.join(after, on="qid", suffix="_after")
    return {
        "n_tokens": both.height,
        "tokens_before": both["tokens"].mean(),
        "tokens_after": both["tokens_after"].mean(),
    }
