"""Scores by a judge's own and by its changed questions, for the checks of judges of answers and of passages."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.judging.bias_checks import CHECKED_COLUMNS
from ragrelay.judging.job import judged_shares
from ragrelay.vocabulary.columns import Columns, real, schema_of, whole
from ragrelay.vocabulary.judge_checks import LENGTH

OF_QUESTION = ("number", "item", "prompt_id", "changed_prompt_id", "words")
"""Columns of what is asked that don't say what is judged."""
SCORES = {
    "score": real("the judge's score as it was; of a passage, its label, or the expected grade", "the judge's"),
    "changed_score": real(f"the score of the changed judgements; empty for `{LENGTH}`", "the judge's"),
    "judgements": whole("questions about the answer or passage", "questions"),
    "other_words": whole("of these, those whose likeliest word is another after the change", "questions"),
}


def score_columns(asked: Columns) -> Columns:
    """Columns of the scores of what was ``asked``, by its columns."""
    return {**{name: asked[name] for name in asked if name not in OF_QUESTION}, "words": asked["words"], **SCORES}


SCORE_COLUMNS = score_columns(CHECKED_COLUMNS)


def score_judge_checks(
    asked: str | Path, receipt: Mapping[str, Any], score: pl.Expr, cache_dir: str | Path
) -> pl.DataFrame:
    """Scores of what the job with this ``receipt`` asked: the score_columns of ``asked``.

    ``score``: the judge's, an aggregation over an answer's or passage's questions. Answers without one are left out.
    """
    table = pl.read_parquet(asked, glob=False)
    ids = pl.concat([table["prompt_id"], table["changed_prompt_id"].rename("prompt_id")]).to_frame()
    return checked_scores(table, judged_shares(ids, receipt, cache_dir), score)


def checked_scores(asked: pl.DataFrame, shares: pl.DataFrame, score: pl.Expr) -> pl.DataFrame:
    """The same, by each prompt's ``shares`` (see judging.job.judged_shares)."""
    key = [name for name in asked.columns if name not in OF_QUESTION]
    changed = shares.select(changed_prompt_id="prompt_id", changed="shares")
    both = asked.join(shares, on="prompt_id", how="left", maintain_order="left")
    both = both.join(changed, on="changed_prompt_id", how="left", maintain_order="left")
    other = pl.col("shares").list.arg_max() != pl.col("changed").list.arg_max()
    own = both.group_by(key, maintain_order=True).agg(
        pl.col("words").first(), score.alias("score"), judgements=pl.col("prompt_id").count(), other_words=other.sum()
    )
    again = both.with_columns(shares="changed").group_by(key, maintain_order=True).agg(score.alias("changed_score"))
    found = own.join(again, on=key, how="left", maintain_order="left")
    unchanged = pl.col("check") == LENGTH
    kept = found.with_columns(changed_score=pl.when(~unchanged).then("changed_score")).drop_nulls("score")
    types = schema_of(SCORES)
    return kept.select(*key, "words", *(pl.col(name).cast(dtype) for name, dtype in types.items()))
