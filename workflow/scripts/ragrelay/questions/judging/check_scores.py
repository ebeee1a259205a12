"""Compute scores from a judge's replies to original and changed questions, to check the judge for bias."""

from pathlib import Path

import polars as pl

from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.judge_checks import LENGTH
from ragrelay.generation.likelihoods.asker import Receipt
from ragrelay.questions.judging.bias_checks import OF_QUESTION, SCORES
from ragrelay.questions.judging.scores import judged_shares


def score_judge_checks(asked: pl.DataFrame, receipt: Receipt, score: pl.Expr, cache_dir: str | Path) -> pl.DataFrame:
    """Compute scores (see score_columns) from the stored replies to the original and the changed questions.

    ``receipt``: the receipt of the job that sent the questions (``asked``). ``score``: an expression that aggregates
    the replies about an answer or passage. Answers and passages without a score for the original question are left out.
    """
    ids = pl.concat([asked["prompt_id"], asked["changed_prompt_id"].rename("prompt_id")]).to_frame()
    return checked_scores(asked, judged_shares(ids, receipt, cache_dir), score)


def checked_scores(asked: pl.DataFrame, shares: pl.DataFrame, score: pl.Expr) -> pl.DataFrame:
    """Compute scores (see score_columns) for original and changed questions from each prompt's word ``shares``."""
    key = [name for name in asked.columns if name not in OF_QUESTION]
    changed = shares.select(changed_prompt_id="prompt_id", changed="shares")
    both = asked.join(shares, on="prompt_id", how="left", maintain_order="left")
    both = both.join(changed, on="changed_prompt_id", how="left", maintain_order="left")
    other = pl.col("shares").list.arg_max() != pl.col("changed").list.arg_max()
    own = both.group_by(key, maintain_order=True).agg(
        pl.col("words").first(), score.alias("score"), judgements=pl.col("prompt_id").count(), other_words=other.sum()
    )
    again = both.with_columns(shares="changed").group_by(key, maintain_order=True).agg(score.alias("changed_score"))
    paired = own.join(again, on=key, how="left", maintain_order="left")
    unchanged = pl.col("check") == LENGTH
    kept = paired.with_columns(changed_score=pl.when(~unchanged).then("changed_score")).drop_nulls("score")
    types = schema_of(SCORES)
    return kept.select(*key, "words", *(pl.col(name).cast(dtype) for name, dtype in types.items()))
