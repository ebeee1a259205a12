"""Write the queries for a round from the answers of the previous round."""

from collections.abc import Sequence

import polars as pl

from ragrelay.base.vocabulary.columns import QID, SEED, Column, schema_of, text

STATE = ["qid", "seed"]
NEXT = "next_query"
"""Replaces the retriever's name in the paths of requests for the next query and of the replies."""
COLUMNS = {
    "qid": QID,
    "seed": SEED,
    "query": text("text with which the retrievers search"),
    "shown": Column(pl.List(pl.String), "ids of the passages shown before this round, in prompt order"),
}
SCHEMA = schema_of(COLUMNS)


def write_round_queries(
    queries: pl.DataFrame, answers: pl.DataFrame, prompts: pl.DataFrame, kind: str, seeds: Sequence[int]
) -> pl.DataFrame:
    """Return a query (columns COLUMNS) for each question in ``queries`` (columns qid and query) and each seed.

    ``answers`` has columns qid, seed and answer; questions without search results may be missing. ``prompts`` contains
    qid, docnos and possibly seed, from the reference retriever's prompts in the previous round; questions without
    passages may be missing. ``kind`` says what the query is: with `answer`, the question followed by the answer
    (Iter-RetGen: Shao et al., Findings of EMNLP 2023); with `ask`, the first line of a model's reply to the request for
    a query; with `same`, just the question. Without an answer or reply, the query is the question.
    """
    of_seeds = pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64})
    states = queries.select("qid", "query").join(of_seeds, how="cross", maintain_order="left_right")
    states = states.join(answers.select(*STATE, "answer"), on=STATE, how="left", maintain_order="left")
    shown = prompts.select("qid", *(name for name in ("seed",) if name in prompts.columns), shown="docnos")
    keys = [name for name in STATE if name in shown.columns]
    line = pl.col("answer").str.strip_chars().str.split("\n").list.first().str.strip_chars()
    texts = {
        "answer": pl.concat_str("query", "answer", separator=" ", ignore_nulls=True),
        "ask": pl.when(line.str.len_chars() > 0).then(line).otherwise("query"),
        "same": pl.col("query"),
    }
    return (
        states.join(shown, on=keys, how="left", maintain_order="left")
        .with_columns(texts[kind].alias("query"), pl.col("shown").fill_null([]))
        .select(*SCHEMA)
    )
