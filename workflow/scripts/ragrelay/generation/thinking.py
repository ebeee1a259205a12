"""Remove a reasoning model's thinking block from answers read from the store. The store keeps the whole text."""

import re
from collections.abc import Sequence
from functools import partial

import polars as pl

from ragrelay.generation.thought_marks import WRAPS

THINKING = "thinking"
"""The finish_reason of an answer that is missing because the thought before it did not end."""


def without_thinking(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """``frame`` (answer, finish_reason, …) with the text up to the block's last end mark taken off each answer.

    ``marks``: start and end. The start mark may be missing, as where the chat template writes it. Without an end mark
    there is no answer (null, finish_reason THINKING) where the block was begun or max_tokens ended it: the model was
    still thinking. What is in one of WRAPS is the answer. All else is as it is; token counts and log-probabilities stay
    those of the whole text.
    """
    start, end = marks
    answer = pl.col("answer")
    ended = answer.str.contains(end, literal=True)
    begun = answer.str.starts_with(start) | (pl.col("finish_reason") == "length")
    after = answer.str.split(end).list.last().str.strip_chars()
    left = pl.when(ended).then(after).otherwise(answer)
    for opening, closing in map(partial(map, re.escape), WRAPS):
        left = left.str.replace(rf"(?s)^{opening}\s*(.*?)\s*(?:{closing}.*)?$", "$1")
    thinking = answer.is_not_null() & ~ended & begun
    return frame.with_columns(
        pl.when(~thinking).then(left).alias("answer"),
        pl.when(thinking).then(pl.lit(THINKING)).otherwise("finish_reason").alias("finish_reason"),
    )
