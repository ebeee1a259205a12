"""Compute the scores of a retriever's answers from a judge's probabilities."""

from pathlib import Path
from typing import TYPE_CHECKING, NotRequired

import polars as pl
import pyarrow as pa

from ragrelay.base.vocabulary.names import NO_ORDERING, UNSCORED
from ragrelay.generation.likelihoods.asker import Receipt
from ragrelay.generation.likelihoods.mass import mass_counts
from ragrelay.generation.likelihoods.word_questions import asked_shares
from ragrelay.scoring.answer_cells import COLUMNS
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.retriever_table import SCHEMA as SCORES

if TYPE_CHECKING:
    from ragrelay.questions.judging.judge_requests import Brackets

KEY = [*COLUMNS, "references"]
MOST_UNREAD = 0.05
"""There is a warning if more than this share of the brackets in answers can't be read as citations."""


class JudgeReceipt(Receipt):
    """The receipt of a job that asks a judge about answers."""

    answers: int
    brackets: NotRequired["Brackets"]


def judged_scores(
    asked: pl.DataFrame, receipt: JudgeReceipt, scorer: JudgeScorer, cache_dir: str | Path
) -> tuple[pa.Table, list[dict[str, object]], pl.DataFrame]:
    """Compute the score table (scoring.retriever_table.SCHEMA) from the judge's replies to the questions ``asked``.

    The judge sees all references together, so best_docno, best_in_context and n_zero are null. Also returns counts
    (``what``, ``count``), such as the number of answers without a score, and ``asked`` with the added column mass.
    ``receipt`` is from the job that asked the judge.
    """
    shares = judged_shares(asked, receipt, cache_dir)
    replies = asked.join(shares, on="prompt_id", how="left", maintain_order="left")
    scores = replies.group_by(KEY, maintain_order=True).agg(
        pl.col("n_references", "n_near_copies").first(), *scorer.measured()
    )
    columns = [(pl.col(name) if name in scores.columns else pl.lit(None).alias(name)).cast(dtype)
               for name, dtype in SCORES.items()]  # fmt: skip
    table = scores.select(columns).to_arrow().replace_schema_metadata({"fingerprint": receipt["fingerprint"]})
    # Zero-shot answers that serve as a retriever's baseline get the k of its contexts.
    of_others = (pl.col("ordering") == NO_ORDERING) & (pl.col("k") > 0)
    scored = scores.filter(pl.col("f1").is_not_null() & ~of_others).select(COLUMNS).n_unique()
    unscored = {"what": UNSCORED, "count": receipt["answers"] - scored}
    counts = [unscored, *mass_counts(shares["mass"], receipt["words"], scorer.generator), *_brackets(receipt)]
    return table, counts, replies.select(*asked.columns, "mass")


def _brackets(receipt: JudgeReceipt) -> list[dict[str, object]]:
    """Count brackets that aren't read as citations, with a warning if there are many."""
    if not (found := receipt.get("brackets")):
        return []
    warning = f"such as {', '.join(found['such_as'])}; docs/judge-answers.md has the forms that are read"
    many = found["unread"] > MOST_UNREAD * (found["read"] + found["unread"])
    row = {"what": "brackets in answers that are read as no citation", "count": found["unread"]}
    return [{**row, "warning": warning} if many else row]


def judged_shares(asked: pl.DataFrame, receipt: Receipt, cache_dir: str | Path) -> pl.DataFrame:
    """For every prompt_id in ``asked``, return each reply word's share and the words' total probability (mass)."""
    return asked_shares(asked.select("prompt_id").drop_nulls().unique(maintain_order=True), receipt, cache_dir)
