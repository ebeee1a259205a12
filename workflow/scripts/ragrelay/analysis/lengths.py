"""Summarise how long answers are, how they end and how many are missing, per retriever, ordering and k."""

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import ANSWERS_PART, CONTEXT_COLUMNS, integer, number

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
TABLE = {
    **CONTEXT_COLUMNS,
    "n": integer("number of answers (queries × seeds), including missing answers", "answers"),
    "mean_tokens": number("mean number of tokens in an answer, excluding missing answers", "tokens"),
    **{
        name: number(f"{at:.0%} quantile of the number of tokens in an answer", "tokens")
        for name, at in QUANTILES.items()
    },
    "stop": integer("number of answers that ended at a stop string or at the model's end-of-text token", "answers"),
    "length": integer("number of answers cut off at `max_tokens`", "answers"),
    "other": integer(
        "number of answers that ended in another way or for an unknown reason; like `stop` and `length`, this column "
        "doesn't count missing answers",
        "answers",
    ),
    "blank": integer("number of answers that consist only of whitespace", "answers"),
    "several": integer("number of queries with answers for several seeds", "queries"),
    "alike": integer("number of queries whose answers are identical for all seeds", "queries"),
}
COLUMNS = {**ANSWERS_PART, **TABLE}
"""Columns of lengths.csv."""
MISSING = (pl.col("n") - pl.col("stop") - pl.col("length") - pl.col("other")).alias("missing")
"""The number of missing answers, from rows of lengths.csv or their sums."""


def answer_lengths(answers: pl.DataFrame) -> pl.DataFrame:
    """Compute one row per cell (columns TABLE) from the rows of answer files, in which a missing answer is null.

    ``alike`` is the number of queries with the same answer for all seeds, for example because the temperature is 0.
    """
    made, reason = pl.col("answer").is_not_null(), pl.col("finish_reason")
    tokens = pl.col("answer_tokens").filter(made)
    known = reason.is_in(["stop", "length"]).fill_null(False)
    frame = answers.group_by(list(CONTEXT_COLUMNS), maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        tokens.mean().alias("mean_tokens"),
        *(tokens.quantile(at, "linear").alias(name) for name, at in QUANTILES.items()),
        (made & (reason == "stop")).sum().cast(pl.Int64).alias("stop"),
        (made & (reason == "length")).sum().cast(pl.Int64).alias("length"),
        (made & ~known).sum().cast(pl.Int64).alias("other"),
        (pl.col("answer").str.strip_chars() == "").sum().cast(pl.Int64).alias("blank"),
    )
    queries = (
        answers.drop_nulls("answer")
        .group_by(*CONTEXT_COLUMNS, "qid")
        .agg(texts=pl.col("answer").n_unique(), answers=pl.len())
    )
    several = queries.filter(pl.col("answers") > 1).group_by(list(CONTEXT_COLUMNS))
    seeds = several.agg(several=pl.len().cast(pl.Int64), alike=(pl.col("texts") == 1).sum().cast(pl.Int64))
    joined = frame.join(seeds, on=list(CONTEXT_COLUMNS), how="left", maintain_order="left")
    return joined.with_columns(pl.col("several", "alike").fill_null(0)).select(*TABLE)


def check_answered(answers: pl.DataFrame, place: str) -> None:
    """Raise InputError, naming ``place``, if every answer in ``answers`` (answer, finish_reason) is missing."""
    if answers.is_empty() or answers["answer"].count():
        return
    reasons = answers.group_by("finish_reason").len().sort("len", "finish_reason", descending=[True, False])
    found = ", ".join(f"{reason} {count:,}" for reason, count in reasons.iter_rows())
    raise InputError(
        place,
        f"{answers.height:,} answers, none with text (finish_reason: {found})",
        "at least one answer with text to score",
    )
