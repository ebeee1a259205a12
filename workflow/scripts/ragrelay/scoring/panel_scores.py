"""Average the scores from the judges of a panel."""

from collections.abc import Mapping, Sequence

import polars as pl

from ragrelay.base.vocabulary.names import NO_ORDERING
from ragrelay.scoring.answer_cells import COLUMNS
from ragrelay.scoring.retriever_table import SCHEMA

KEY = [*COLUMNS, "references"]
NOT_BY_ALL = "answers that some judges of the panel scored, but not all (left out)"


def score_panel(
    tables: Mapping[str, pl.DataFrame], judges: Sequence[str]
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Average the scores from ``judges``, for the answers that were scored by every judge in the panel.

    All other answers are left out; otherwise, retrievers would be compared on the scores of different judges. Means
    that leave out a judge use the same answers as the mean over all judges.

    Args:
        tables: Each judge's score table (SCHEMA) for a single retriever.
        judges: The names of the judges to average over: all judges, or all except one.

    Returns:
        A score table with the mean scores, and a count of answers that were scored only by some judges.
    """
    scored = {name: table.filter(pl.col("f1").is_not_null()) for name, table in tables.items()}
    first, *others = scored
    common = scored[first].rename({"f1": first}).drop("precision", "recall", "best_docno", "best_in_context", "n_zero")
    for name in others:
        theirs = scored[name].select(*KEY, pl.col("f1").alias(name))
        common = common.join(theirs, on=KEY, how="inner", validate="1:1", maintain_order="left")
    mean = common.with_columns(f1=pl.sum_horizontal(judges) / len(judges))
    named = [(pl.col(name) if name in mean.columns else pl.lit(None).alias(name)).cast(dtype)
             for name, dtype in SCHEMA.items()]  # fmt: skip
    by_any = pl.concat([_answers(table) for table in scored.values()]).n_unique()
    return mean.select(named), [{"what": NOT_BY_ALL, "count": by_any - _answers(common).n_unique()}]


def _answers(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the keys of the answers in ``scores``, without zero-shot answers that serve as a retriever's baseline."""
    return scores.filter((pl.col("ordering") != NO_ORDERING) | (pl.col("k") == 0)).select(COLUMNS)
