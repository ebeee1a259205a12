"""Write a round's queries from the answers of the previous round."""

from collections.abc import Sequence

import polars as pl

from ragrelay.base.vocabulary.columns import QID, SEED, Column, schema_of, text

STATE = ["qid", "seed"]
NEXT = "next_query"
"""The name used instead of a retriever's in the paths of requests for the next query and of their replies."""
COLUMNS = {
    "qid": QID,
    "seed": SEED,
    "query": text("text that the retrievers search for"),
    "shown": Column(pl.List(pl.String), "ids of the passages shown before this round, in prompt order"),
}
SCHEMA = schema_of(COLUMNS)


def write_round_queries(
    queries: pl.DataFrame, answers: pl.DataFrame, prompts: pl.DataFrame, kind: str, seeds: Sequence[int]
) -> pl.DataFrame:
    """Return the round's query for each question in ``queries`` (qid, query) and each seed: columns COLUMNS.

    ``answers``: qid, seed, answer; questions for which nothing was found may be missing. ``prompts``: qid, docnos and
    possibly seed, from the reference's prompts in the previous round; for a question without a row, nothing was shown.
    ``kind``: `answer` searches for the question followed by the answer (Iter-RetGen: Shao et al., Findings of EMNLP
    2023), `ask` for the answer's first line (a reply to the request for a query), and `same` for the question. If there
    is no answer or reply, the query is the question.
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
