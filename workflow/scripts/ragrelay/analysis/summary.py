"""Summarise utility: one row per retriever, ordering, k and reference set."""

import polars as pl
from scipy import special

from ragrelay.analysis.correlation import LOW_P0, is_constant
from ragrelay.analysis.transmission import Transmission
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    integer,
    number,
)
from ragrelay.base.vocabulary.names import ZEROSHOT

METHOD = "t over queries"
CELL_OF_CONTEXTS = ["retriever", "ordering", "k"]
TABLE = {
    **CELL_COLUMNS,
    "n": integer("number of queries in the cell", "queries"),
    "mean_p": number("mean P over the queries that have both P and P₀; P is the answer's score against the query's "
        "references", "the scorer's"),
    "mean_p0": number("mean P₀ over the queries that have both P and P₀; P₀ is the zero-shot answer's score",
        "the scorer's"),
    "mean_utility": number("mean utility over queries; utility is (P − P₀) / P₀, or P − P₀ if the scorer's utility is "
        "absolute"),
    **INTERVAL,
    "method": INTERVAL_METHOD,
    "median_utility": number("median utility over queries"),
    "n_null": integer("number of queries without utility, because P is missing or P₀ is not above 0", "queries"),
    "n_low_p0": integer("number of queries with P₀ below 0.1", "queries"),
    "n_without_results": integer("number of queries for which the retriever found nothing, so that P equals "
        "P₀", "queries"),
    "share_best_in_context": number("share of answers whose best-matching reference was in the context", "0 to 1"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {
    **STUDY_PART,
    **TABLE,
    "share_unjudged": number("share of passages in the contexts that have no judgement for the query", "0 to 1"),
    "{measure}": number("mean of a retrieval measure over queries, computed at k; each measure in the grid has a "
        "column, named after the measure"),
}  # fmt: skip
"""Columns of utility.csv."""
BY_QUERY = (*INTERVAL, "method")
"""The columns that assume independent queries (see analyse_transmission)."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of utility.csv from the answers and rankings in ``given``."""
    summaries = [utility_summary(given.utility_of(ZEROSHOT), None)]
    summaries += [utility_summary(utility, measures) for utility, measures in given.each_retriever()]
    return with_unjudged(pl.concat(summaries, how="diagonal"), given.rankings.contexts, given.rankings.judged.qrels)


def utility_summary(utility: pl.DataFrame, retrieval: pl.DataFrame | None) -> pl.DataFrame:
    """Summarise one retriever's utility table: the columns TABLE, then one column per retrieval measure.

    mean_p and mean_p0 are means over the queries with both P and P_0. If a cell has no P_0 at all, because there are no
    zero-shot answers, mean_p is the mean over the queries with P. The other means and the median use all queries with a
    value. The interval uses Student's t. ``retrieval`` (qid, measure, k, value) is None for zero-shot answers.
    """
    cells = (
        utility.sort([*CELL, "qid"])
        .group_by(CELL, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            # Collect lists before means: means of lists have the same last digit with any number of threads.
            pl.col("p", "p0").filter(
                pl.col("p").is_not_null() & (pl.col("p0").is_not_null() | pl.col("p0").is_null().all())
            ),
            pl.col("utility", "best_in_context").drop_nulls(),
            pl.col("utility").null_count().cast(pl.Int64).alias("n_null"),
            pl.col("without_results").sum().cast(pl.Int64).alias("n_without_results"),
            (pl.col("p0") < LOW_P0).sum().cast(pl.Int64).alias("n_low_p0"),
        )
        .with_columns(
            pl.col("p").list.mean().alias("mean_p"),
            pl.col("p0").list.mean().alias("mean_p0"),
            pl.col("utility").list.mean().alias("mean_utility"),
            pl.col("utility").list.median().alias("median_utility"),
            pl.col("best_in_context").list.mean().alias("share_best_in_context"),
        )
    )
    intervals = mean_intervals(cells["utility"], "utility")
    summary = pl.concat([cells, intervals], how="horizontal").select(*TABLE)
    if retrieval is None:
        return summary
    return summary.join(_mean_measures(utility, retrieval), on=CELL, how="left", maintain_order="left")


def with_unjudged(summary: pl.DataFrame, contexts: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Add the share of unjudged passages in ``contexts`` (retriever, ordering, k, qid, docnos) to ``summary``.

    ``judged`` has the qid and docno of each judgement, whatever the label. Without contexts, the share is null.
    """
    passages = contexts.explode("docnos", empty_as_null=False).rename({"docnos": "docno"})
    known = judged.select("qid", "docno", judged=pl.lit(True)).unique()
    shares = (
        passages.join(known, on=["qid", "docno"], how="left")
        .group_by(CELL_OF_CONTEXTS)
        .agg(share_unjudged=pl.col("judged").is_null().mean())
    )
    joined = summary.join(shares, on=CELL_OF_CONTEXTS, how="left", maintain_order="left")
    return joined.select(*TABLE, "share_unjudged", pl.exclude(*TABLE, "share_unjudged"))


def mean_intervals(lists: pl.Series, what: str) -> pl.DataFrame:
    """Compute a 95% interval for each list's mean (low, high, method, reason). ``what`` names the values."""
    few = lists.list.len() < 2
    constant = pl.Series(
        [not short and is_constant(values.to_numpy()) for values, short in zip(lists, few, strict=True)],
        dtype=pl.Boolean,
    )
    errors = lists.list.std() / lists.list.len().sqrt()
    reach = special.stdtrit(lists.list.len().to_numpy() - 1.0, 0.975) * errors.to_numpy()
    frame = pl.DataFrame({"few": few, "constant": constant, "mean": lists.list.mean(), "reach": reach})
    defined = ~(pl.col("few") | pl.col("constant"))
    reason = (
        pl.when("few").then(pl.lit(f"fewer than 2 queries with {what}"))
        .when("constant").then(pl.lit(f"{what} is constant"))
    )  # fmt: skip
    return frame.select(
        low=pl.when(defined).then(pl.col("mean") - pl.col("reach")),
        high=pl.when(defined).then(pl.col("mean") + pl.col("reach")),
        method=pl.when(defined).then(pl.lit(METHOD)),
        reason=reason,
    )


def _mean_measures(utility: pl.DataFrame, retrieval: pl.DataFrame) -> pl.DataFrame:
    """Average the measures over each cell's queries: ``CELL``, then a column per measure, sorted by name."""
    values = retrieval.select("qid", "measure", "k", pl.col("value").fill_nan(None))
    return (
        utility.select(*CELL, "qid")
        .join(values, on=["qid", "k"], how="inner")
        .sort([*CELL, "measure", "qid"])
        .group_by([*CELL, "measure"], maintain_order=True)
        .agg(pl.col("value").drop_nulls())
        .with_columns(pl.col("value").list.mean())
        .pivot("measure", on_columns=retrieval["measure"].unique().sort(), index=CELL, values="value")
    )
