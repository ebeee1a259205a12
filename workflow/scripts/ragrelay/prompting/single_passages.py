"""The prompts with each retrieved passage alone."""

import polars as pl

from ragrelay.prompting.layout import kshot_prompts
from ragrelay.prompting.templates import Template
from ragrelay.vocabulary.orderings import DESCENDING


def build_single_prompts(queries: pl.DataFrame, contexts: pl.DataFrame, template: Template, depth: int) -> pl.DataFrame:
    """The k = 1 prompts of the passages at ranks 1 to ``depth`` of ``contexts`` (qid, rank, docno, text).

    Columns of prompting.kshot_prompts with ``rank`` first, in the order of rank and of ``queries``. The texts, and so
    the prompt_ids, are those of any k = 1 cell that has the passage.
    """
    ranks = [
        kshot_prompts(
            queries, contexts.filter(rank=rank).with_columns(rank=pl.lit(1, pl.Int64)), template, DESCENDING, 1
        ).select(pl.lit(rank, pl.Int64).alias("rank"), "*")
        for rank in range(1, depth + 1)
    ]
    return pl.concat(ranks)
