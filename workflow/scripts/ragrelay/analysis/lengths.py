"""How long answers are and how they end, per retriever, ordering and k."""

import polars as pl

from ragrelay.generation.answer_files import CELL

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
SCHEMA: dict[str, type[pl.DataType]] = CELL | {
    "n": pl.Int64, "mean_tokens": pl.Float64, **dict.fromkeys(QUANTILES, pl.Float64), "stop": pl.Int64,
    "length": pl.Int64, "other": pl.Int64, "blank": pl.Int64,
}  # fmt: skip


def answer_lengths(answers: pl.DataFrame) -> pl.DataFrame:
    """Columns SCHEMA, from answers: retriever, ordering, k, answer, finish_reason, answer_tokens; a row per cell.

    ``n`` answers (queries x seeds); mean and quantiles of their tokens; how many ended by a stop string or the model's
    own end (``stop``), at max_tokens (``length``) or otherwise; and how many are ``blank``.
    """
    tokens, reason = pl.col("answer_tokens"), pl.col("finish_reason")
    known = reason.is_in(["stop", "length"]).fill_null(False)
    frame = answers.group_by(list(CELL), maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        tokens.mean().alias("mean_tokens"),
        *(tokens.quantile(at, "linear").alias(name) for name, at in QUANTILES.items()),
        (reason == "stop").sum().cast(pl.Int64).alias("stop"),
        (reason == "length").sum().cast(pl.Int64).alias("length"),
        (~known).sum().cast(pl.Int64).alias("other"),
        (pl.col("answer").str.strip_chars() == "").sum().cast(pl.Int64).alias("blank"),
    )
    return frame.select(*SCHEMA)
