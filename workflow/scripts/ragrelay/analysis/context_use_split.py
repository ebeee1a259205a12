"""Group queries by whether the context was good and whether the answer used it, and compare the groups' utility."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from ragrelay.analysis import multiplicity
from ragrelay.analysis.bootstrap import METHOD, bootstrap_intervals
from ragrelay.analysis.correlation import QUERIES_AT_LEAST, RANKS_BOOTSTRAPPED_AT_MOST, RESAMPLES_AT_MOST, is_constant
from ragrelay.base.vocabulary.columns import (
    CELL_OF_RETRIEVER,
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    STUDY_PART,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT

ALL = "all retrievers"
GROUPS = {"good_used": (True, True), "good_unused": (True, False), "poor_used": (False, True),
          "poor_unused": (False, False)}  # fmt: skip
"""Each group's two truth values: whether the context was good, and whether it was used."""
GROUP_WORDS = {"good_used": "good, used", "good_unused": "good, not used", "poor_used": "poor, used",
               "poor_unused": "poor, not used"}  # fmt: skip
TABLE = {
    "retriever": text("name of the retriever, or `all retrievers`"),
    "ordering": CONTEXT_COLUMNS["ordering"],
    "k": CONTEXT_COLUMNS["k"],
    "references": REFERENCES,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "n": integer("number of queries with values for utility, context use and the measure", "queries"),
    "n_null": integer("number of queries without a value for utility, context use or the measure", "queries"),
    "mean_context_use": number("mean context use over queries", "nats per token"),
    "mean_text_change": number("mean text change over queries", "0 to 1"),
    "rho": number("Spearman's rho between context use and utility, over queries", "−1 to 1"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that rho is 0"),
    **{
        f"n_{group}": integer(f"number of queries in the group “{words}”", "queries")
        for group, words in GROUP_WORDS.items()
    },
    **{
        f"utility_{group}": number(f"mean utility of queries in the group “{words}”")
        for group, words in GROUP_WORDS.items()
    },
    "good_from": number("median of the measure over all retrievers' queries; a context is good if the measure is above "
        "0 and at least this median"),
    "used_from": number("median of context use over all retrievers' queries; a context was used if context use is at "
        "least this median", "nats per token"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted()}
"""Columns of context_use.csv."""


def split_utility(
    utility: str | Path, retrieval: Mapping[str, str | Path], measure: str, resamples: int, seed: int
) -> pl.DataFrame:
    """Compute context_use.csv: one row per retriever, ordering, k and reference set, except unseen sets.

    ``utility`` is the utility file, with the columns context_use and text_change; ``retrieval`` maps each retriever to
    the file with the retriever's measures. A context counts as good if ``measure`` at k is above 0 and not below its
    median over all retrievers' queries. A context counts as used if context_use isn't below its median over all
    retrievers' queries. Rows for ``all retrievers`` have no interval, because each query occurs several times.
    """
    measured = pl.concat(
        pl.read_parquet(path).filter(measure=measure).select(pl.lit(name).alias("retriever"), "qid", "k", "value")
        for name, path in retrieval.items()
    )
    rows = (
        pl.read_parquet(utility)
        .filter(pl.col("retriever") != ZEROSHOT, ~pl.col("references").str.ends_with(UNSEEN))
        .join(measured, on=["retriever", "qid", "k"], how="left", maintain_order="left")
        .with_columns(pl.col("value").fill_nan(None))
    )
    table_rows = []
    for key, cell in rows.group_by(CELL_OF_RETRIEVER, maintain_order=True):
        names = dict(zip(CELL_OF_RETRIEVER, key, strict=True)) | {"measure": measure}
        whole = cell.filter(pl.all_horizontal(pl.col("utility", "context_use", "value").is_not_null()))
        good_from, used_from = whole["value"].median(), whole["context_use"].median()
        split = whole.with_columns(
            good=(pl.col("value") > 0) & (pl.col("value") >= pl.lit(good_from, pl.Float64)),
            used=pl.col("context_use") >= pl.lit(used_from, pl.Float64),
        )
        for retriever in [*cell["retriever"].unique(maintain_order=True), ALL]:
            part = split if retriever == ALL else split.filter(retriever=retriever)
            asked = cell if retriever == ALL else cell.filter(retriever=retriever)
            row = {"retriever": retriever, **names, "good_from": good_from, "used_from": used_from}
            row |= {"n": part.height, "n_null": asked.height - part.height} | _groups(part)
            table_rows.append(row | _association(part, retriever == ALL, resamples, seed))
    table = pl.DataFrame(table_rows, schema=SCHEMA)
    return multiplicity.with_adjusted(table, ["references", "measure"], {"p_value": "p"})


def _groups(part: pl.DataFrame) -> dict[str, Any]:
    means = {f"mean_{name}": part[name].mean() for name in ("context_use", "text_change")}
    for group, (good, used) in GROUPS.items():
        utilities = part.filter((pl.col("good") == good) & (pl.col("used") == used))["utility"]
        means |= {f"n_{group}": len(utilities), f"utility_{group}": utilities.mean()}
    return means


def _association(part: pl.DataFrame, pooled: bool, resamples: int, seed: int) -> dict[str, object]:
    x, y = part["utility"].to_numpy(), part["context_use"].to_numpy()
    if len(x) < QUERIES_AT_LEAST:
        return {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
    if is_constant(x) or is_constant(y):
        return {"reason": f"{'utility' if is_constant(x) else 'context use'} is constant"}
    test = stats.spearmanr(x, y)
    if pooled:
        return {"rho": float(test.statistic), "reason": "no test, because the retrievers share their queries"}
    row = {"rho": float(test.statistic), "p_value": float(test.pvalue)}
    if len(x) > RANKS_BOOTSTRAPPED_AT_MOST:
        return row | {"reason": f"no interval is computed for more than {RANKS_BOOTSTRAPPED_AT_MOST} queries"}
    drawn, names = min(resamples, RESAMPLES_AT_MOST["spearman"]), ("utility", "context use")
    interval = bootstrap_intervals("spearman", [(x, y)], drawn, seed, names=[names])[0]
    return row | {"low": interval.low, "high": interval.high, "method": METHOD, "reason": interval.reason}
