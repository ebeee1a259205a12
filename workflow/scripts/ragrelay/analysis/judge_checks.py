"""By how much a judge's scores change where nothing should count, and whether they go with the answers' length."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import bootstrap, coefficients, mean_tests
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    adjusted,
    real,
    schema_of,
    text,
    whole,
)
from ragrelay.vocabulary.judge_checks import ABOUT, CHECKS, LENGTH

TABLE = {
    "check": text(ABOUT),
    "value": real("mean over queries of the score after the change less that before; of `length`, Spearman's rho of "
                  "score and words over answers"),
    **INTERVAL,
    "p_value": real("of a mean change of 0; empty for `length`"),
    "n": whole("answers", "answers"),
    "n_queries": whole("queries that these are of", "queries"),
    "mean_score": real("mean score of these answers as they were", "the scorer's"),
    "mean_words": real("mean length of these answers as they were", "words"),
    "judgements": whole("questions about these answers", "questions"),
    "share_other_word": real("share of these questions whose likeliest word is another after the change; empty for "
                             "`length`"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE, **adjusted()}
CLUSTERED = f"{bootstrap.METHOD}, of whole queries"
FEW = f"fewer than {QUERIES_AT_LEAST} queries"


def analyse_judge_checks(scores: Sequence[pl.DataFrame], resamples: int, seed: int) -> pl.DataFrame:
    """A row of TABLE per check, with p-values adjusted over checks.

    ``scores``: a table of judging.check_job.SCORE_COLUMNS, or none. The unit is the query. A change is averaged over a
    query's answers and tested as a gain is (analysis.mean_tests); rho is that of all answers, with whole queries
    resampled. ``resamples``, ``seed``: of the bootstrap.
    """
    rows = []
    for check in CHECKS:
        for some in (one.filter(check=check) for one in scores):
            if some.is_empty():
                continue
            found = _length(some, resamples, seed) if check == LENGTH else _change(some)
            rows.append({"check": check, **_counts(some), **found})
    table = pl.DataFrame(rows, schema=schema_of(TABLE))
    of_judge = with_adjusted(table.with_columns(of=pl.lit("checks of a judge")), ["of"], {"p_value": "p"})
    return of_judge.select(*TABLE, *adjusted())


def _counts(some: pl.DataFrame) -> dict[str, Any]:
    means = some.select(pl.col("score", "words").mean(), pl.col("judgements").sum()).row(0, named=True)
    return {
        "n": some.height,
        "n_queries": some["qid"].n_unique(),
        "mean_score": means["score"],
        "mean_words": means["words"],
        "judgements": means["judgements"],
    }


def _change(some: pl.DataFrame) -> dict[str, Any]:
    change = pl.col("changed_score") - pl.col("score")
    changes = some.group_by("qid", maintain_order=True).agg(change.mean().alias("change"))["change"].to_numpy()
    other = float(some["other_words"].sum()) / float(some["judgements"].sum())
    row = {"value": float(changes.mean()), "share_other_word": other}
    if len(changes) < QUERIES_AT_LEAST or is_constant(changes):
        return row | {"reason": FEW if len(changes) < QUERIES_AT_LEAST else "the same change for every query"}
    means = mean_tests.Means.of(changes[:, None])
    (low,), (high,) = means.interval()
    found = {"low": float(low), "high": float(high), "p_value": float(means.p_value()[0])}
    return row | found | {"method": mean_tests.METHOD}


def _length(some: pl.DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    words, scores = (some[name].to_numpy().astype(np.float64) for name in ("words", "score"))
    query = (some["qid"].rank("dense") - 1).to_numpy().astype(np.int64)
    n_queries = int(query.max()) + 1
    if is_constant(words) or is_constant(scores):
        return {"reason": "all answers have the same length or score"}
    value = float(coefficients.spearman(np.ones((1, len(words))), words, scores)[0])
    if n_queries < QUERIES_AT_LEAST:
        return {"value": value, "reason": FEW}
    chunks = bootstrap.resample_counts(n_queries, resamples, seed)
    draws = np.concatenate([coefficients.spearman(counts[:, query], words, scores) for counts in chunks])
    left_out = coefficients.spearman(1.0 - np.eye(n_queries)[:, query], words, scores)
    low, high, reason = bootstrap.bca_interval(value, draws, left_out)
    return {"value": value, "low": low, "high": high, "reason": reason, "method": None if reason else CLUSTERED}
