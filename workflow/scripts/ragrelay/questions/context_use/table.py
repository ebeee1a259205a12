"""Compute how much likelier the context makes each answer (context use), and how much the context changes the text."""

import polars as pl

from ragrelay.base.vocabulary.columns import CONTEXT_COLUMNS, QID, SEED, integer, number, schema_of
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.questions.context_use.requests import KEYS
from ragrelay.scoring.squad import token_f1

COLUMNS = {
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "qid": QID,
    "seed": SEED,
    "tokens": integer("number of tokens in the answer", "tokens"),
    "logprob_with": number("the answer's log-probability given the prompt with context", "nats"),
    "logprob_without": number("the answer's log-probability given the zero-shot prompt", "nats"),
    "context_use": number("`logprob_with` − `logprob_without`, divided by `tokens`", "nats per token"),
    "text_change": number("1 − word F1 between the answer and the zero-shot answer", "0 to 1"),
}
SCHEMA = schema_of(COLUMNS)


def use_table(
    answers: pl.DataFrame, zeroshot: pl.DataFrame, rows: pl.DataFrame, store: LikelihoodStore
) -> pl.DataFrame:
    """Compute context use and text change: one row (SCHEMA) per row in ``answers`` (KEYS, answer), in the same order.

    ``rows`` contains each answer's two prompts (see AnswerScores), and ``zeroshot`` the zero-shot answers (qid, seed,
    answer). An answer's log-probability (in nats, teacher-forced) is computed with and without the context. context_use
    is the difference (with minus without) per token: the pointwise mutual information of answer and context given the
    query. It is positive if the context made the answer likelier. text_change is one minus the word F1 between the
    answer and the zero-shot answer with the same seed. Values are null if a log-probability or an answer is missing.
    """
    sides = {
        side: _scored(rows, column, store) for side, column in (("with", "prompt_id"), ("without", "prompt_id_without"))
    }
    joined = answers
    for scored in sides.values():
        joined = joined.join(scored, on=KEYS, how="left", maintain_order="left")
    joined = joined.join(
        zeroshot.select("qid", "seed", answer_without="answer"), on=["qid", "seed"], how="left", maintain_order="left"
    )
    changes = [
        None if answer is None or without is None else 1.0 - token_f1(answer, without)[2]
        for answer, without in joined.select("answer", "answer_without").iter_rows()
    ]
    use = (pl.col("logprob_with") - pl.col("logprob_without")) / pl.col("tokens")
    return joined.with_columns(use.alias("context_use"), pl.Series("text_change", changes, dtype=pl.Float64)).select(
        pl.col(name).cast(kind) for name, kind in SCHEMA.items()
    )


def _scored(rows: pl.DataFrame, prompt: str, store: LikelihoodStore) -> pl.DataFrame:
    """Return KEYS and the log-probability after the prompt in column ``prompt``; with context, also the token count."""
    side = "without" if prompt.endswith("_without") else "with"
    keyed = rows.select(*KEYS, pl.col(prompt).alias("prompt_id"), "continuation")
    held = store.look_up(keyed.select("prompt_id", "continuation").unique())
    joined = keyed.join(held, on=["prompt_id", "continuation"], how="left", maintain_order="left")
    named = joined.rename({"logprob": f"logprob_{side}"})
    return named.select(*KEYS, f"logprob_{side}", *(["tokens"] if side == "with" else []))
