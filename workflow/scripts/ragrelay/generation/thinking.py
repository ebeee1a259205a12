"""A reasoning model's thinking block, taken off an answer that is read from the store, which keeps the whole text."""

import polars as pl


def without_thinking(frame: pl.DataFrame, marks: tuple[str, str]) -> pl.DataFrame:
    """``frame`` (answer, finish_reason, …) with the text up to the block's last end mark taken off each answer.

    ``marks``: start and end. The start mark may be missing, as where the chat template writes it. Without an end mark
    an answer is empty where the block was begun or max_tokens ended it (the model was still thinking), and otherwise is
    as it is. Token counts and log-probabilities stay those of the whole text.
    """
    start, end = marks
    answer = pl.col("answer")
    unfinished = answer.str.starts_with(start) | (pl.col("finish_reason") == "length")
    after = answer.str.split(end).list.last().str.strip_chars()
    stripped = (
        pl.when(answer.str.contains(end, literal=True)).then(after).when(unfinished).then(pl.lit("")).otherwise(answer)
    )
    return frame.with_columns(stripped.alias("answer"))
