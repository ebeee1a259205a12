"""A reasoning model's thinking block, taken off an answer that is read from the store, which keeps the whole text."""

from collections.abc import Sequence

import polars as pl

THINKING = "thinking"
"""The finish_reason of an answer that is missing because the thought before it did not end."""


def without_thinking(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """``frame`` (answer, finish_reason, …) with the text up to the block's last end mark taken off each answer.

    ``marks``: start and end. The start mark may be missing, as where the chat template writes it. Without an end mark
    there is no answer (null, finish_reason THINKING) where the block was begun or max_tokens ended it: the model was
    still thinking. All else is as it is; token counts and log-probabilities stay those of the whole text.
    """
    start, end = marks
    answer = pl.col("answer")
    ended = answer.str.contains(end, literal=True)
    begun = answer.str.starts_with(start) | (pl.col("finish_reason") == "length")
    after = answer.str.split(end).list.last().str.strip_chars()
    thinking = answer.is_not_null() & ~ended & begun
    return frame.with_columns(
        pl.when(ended).then(after).when(~thinking).then(answer).alias("answer"),
        pl.when(thinking).then(pl.lit(THINKING)).otherwise("finish_reason").alias("finish_reason"),
    )
