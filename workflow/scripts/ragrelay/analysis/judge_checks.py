"""Test whether a judge's scores depend on changes that shouldn't matter, or on the length of the text."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from ragrelay.analysis import bootstrap, coefficients, mean_tests
from ragrelay.analysis.clusters import spearman_left_out
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.judge_checks import ABOUT, CHECKS, LENGTH

TABLE = {
    "check": text(ABOUT),
    "value": number("mean over queries of the score after the change minus the score before it; for `length`, "
                    "Spearman's rho between score and number of words, over answers or passages"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the mean change is 0; empty for "
                      "`length`"),
    "n": integer("number of answers or passages that were checked", "answers or passages"),
    "n_queries": integer("number of queries that have a checked answer or passage", "queries"),
    "mean_score": number("mean score before the change", "the scorer's"),
    "mean_words": number("mean number of words before the change", "words"),
    "judgements": integer("number of questions that the judge was asked about the checked answers or "
                          "passages", "questions"),
    "share_other_word": number("share of the questions for which the change alters the likeliest reply word; empty for "
                               "`length`"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE, **adjusted()}
"""Columns of a scorer's judge_checks.csv."""
PASSAGE_COLUMNS = {
    "dataset": STUDY_PART["dataset"],
    "source": text("name of the annotation source whose labels are checked"),
    "judge": text("name of the generator that acts as the judge"),
    **TABLE,
    **adjusted(),
}
"""Columns of an annotation source's judge_checks.csv."""
CLUSTERED = "jackknife over queries, Fisher's z"
FEW = f"fewer than {QUERIES_AT_LEAST} queries"


def analyse_judge_checks(scores: pl.DataFrame, of: Mapping[str, str]) -> pl.DataFrame:
    """Compute judge_checks.csv for a scorer or an annotation source: one row per check, with adjusted p-values.

    ``scores`` has the SCORE_COLUMNS of bias_checks or labels.passage_checks; ``of`` holds the values of the table's
    first three columns. The query is the unit of analysis: changes are averaged over a query's answers or passages, and
    the mean over queries is tested with mean_tests. For the length check, rho is computed over all answers or passages.
    """
    rows = []
    for check in CHECKS:
        checked = scores.filter(check=check)
        if checked.height:
            estimate = _length(checked) if check == LENGTH else _change(checked)
            rows.append({"check": check, **_counts(checked), **estimate})
    table = pl.DataFrame(rows, schema=schema_of(TABLE))
    of_judge = with_adjusted(table.with_columns(of=pl.lit("checks of a judge")), ["of"], {"p_value": "p"})
    named = of_judge.with_columns(**{name: pl.lit(value) for name, value in of.items()})
    return named.select(*(COLUMNS if "scorer" in of else PASSAGE_COLUMNS))


def _counts(some: pl.DataFrame) -> dict[str, object]:
    means = some.select(pl.col("score", "words").mean(), pl.col("judgements").sum()).row(0, named=True)
    return {
        "n": some.height,
        "n_queries": some["qid"].n_unique(),
        "mean_score": means["score"],
        "mean_words": means["words"],
        "judgements": means["judgements"],
    }


def _change(some: pl.DataFrame) -> dict[str, object]:
    change = pl.col("changed_score") - pl.col("score")
    changes = some.group_by("qid", maintain_order=True).agg(change.mean().alias("change"))["change"].to_numpy()
    other = float(some["other_words"].sum()) / float(some["judgements"].sum())
    row = {"value": float(changes.mean()), "share_other_word": other}
    if len(changes) < QUERIES_AT_LEAST or is_constant(changes):
        return row | {"reason": FEW if len(changes) < QUERIES_AT_LEAST else "the change is the same for every query"}
    means = mean_tests.Means.of(changes[:, None])
    (low,), (high,) = means.interval()
    interval = {"low": float(low), "high": float(high), "p_value": float(means.p_value()[0])}
    return row | interval | {"method": mean_tests.METHOD}


def _length(some: pl.DataFrame) -> dict[str, object]:
    words, scores = (some[name].to_numpy().astype(np.float64) for name in ("words", "score"))
    query = (some["qid"].rank("dense") - 1).to_numpy().astype(np.intp)
    if is_constant(words) or is_constant(scores):
        return {"reason": "all lengths or all scores are equal"}
    value = float(coefficients.spearman(np.ones((1, len(words))), words, scores)[0])
    if query.max() + 1 < QUERIES_AT_LEAST:
        return {"value": value, "reason": FEW}
    interval = bootstrap.fisher_jackknife(value, spearman_left_out(words, scores, query))
    if interval.low is None:
        return {"value": value, "reason": "the correlation is perfect, or leaving out a query never changes it"}
    return {"value": value, "low": interval.low, "high": interval.high, "method": CLUSTERED}
