"""Summarise a recheck: how many answers are bit-equal, where the others first differ, and how scores change."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.clusters import Clusters, of_queries
from ragrelay.analysis.equivalence import testable, untestable, words_of
from ragrelay.analysis.scale import cut, scaled
from ragrelay.base.vocabulary.columns import REASON, REFERENCES, STUDY_PART, integer, number, schema_of, text

LEVEL = 0.95
CHANGES = {
    "references": REFERENCES,
    "n_scored": integer("answers with a score both then and now", "answers"),
    "n_unpaired": integer("answers with a score only then or only now", "answers"),
    "margin": number("the configuration's `equivalence_margin`", "the scorer's"),
    "n_flips": integer("scores that changed by more than the margin; if a scorer has only two values, such as 0 and 1, "
                       "all scores that changed",
                       "answers"),
    "n_queries": integer("queries with at least one answer that has both scores", "queries"),
    "p_then": number("mean score of the stored answers, averaged within queries first", "the scorer's"),
    "p_now": number("mean score of the regenerated answers, averaged within queries first", "the scorer's"),
    "mean_difference": number("p_now minus p_then; exactly 0 if no score changed", "the scorer's"),
    "low": number("lower end of the mean difference's 95% interval over queries", "the scorer's"),
    "high": number("upper end of this interval", "the scorer's"),
    "verdict": text("verdict that follows from this interval and the margin, as in equivalence.csv; empty without an "
                    "interval"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {
    **STUDY_PART,
    "n_stored": integer("the study's stored answers to distinct prompts and seeds", "answers"),
    "n": integer("answers that were drawn and regenerated", "answers"),
    "n_equal": integer("answers that are bit-equal in text, finish reason and token counts", "answers"),
    "equal": number("share of answers that are bit-equal"),
    "equal_low": number("lower end of its 95% interval (Wilson's)"),
    "equal_high": number("upper end of this interval"),
    "n_equal_here": integer(
        "regenerated answers that stay the same when generated a second time, in two halves; empty if all are "
        "bit-equal to the stored ones",
        "answers",
    ),
    "unit": text(
        "the unit of median_until: `tokens` of the generator's tokenizer, or `words` if the tokenizer is unknown"
    ),
    "median_until": number(
        "median number of tokens or words before the first difference, over answers with different texts"
    ),
    **CHANGES,
}
"""Columns of recheck.csv; if every scorer asks a judge, a row's scorer and scores are empty."""


def equality(answers: pl.DataFrame) -> dict[str, object]:
    """Compute the columns from n to median_until from comparison.COLUMNS.

    The interval is Wilson's (1927), which treats answers as independent.
    """
    n, equal = answers.height, int(answers["equal"].sum())
    low, high = stats.binomtest(equal, n).proportion_ci(LEVEL, method="wilson")
    return {
        "n": n,
        "n_equal": equal,
        "equal": equal / n,
        "equal_low": float(low),
        "equal_high": float(high),
        "n_equal_here": None if answers["equal_here"].null_count() else int(answers["equal_here"].sum()),
        "unit": answers["unit"][0],
        "median_until": answers["same_until"].median(),
    }


def changes(scores: pl.DataFrame, margin: float, clusters: Clusters | None = None) -> dict[str, object]:
    """Compute CHANGES from ``scores`` (scores.COLUMNS).

    The interval is computed as for verdicts on mean differences (analysis.mean_tests), over ``clusters`` if given.
    """
    both = scores.drop_nulls(["then", "now"]).with_columns(difference=pl.col("now") - pl.col("then"))
    of_query = both.group_by("qid", maintain_order=True).agg(pl.col("then", "now", "difference").mean())
    row: dict[str, object] = {
        "references": scores["references"].first(),
        "n_scored": both.height,
        "n_unpaired": scores.filter(pl.col("then").is_null() != pl.col("now").is_null()).height,
        "margin": margin,
        "n_flips": both.filter(pl.col("difference").abs() > margin).height,
        "n_queries": of_query.height,
        "p_then": of_query["then"].mean(),
        "p_now": of_query["now"].mean(),
        "mean_difference": of_query["difference"].mean(),
    }
    column = of_query["difference"].to_numpy().astype(np.float64)
    cluster = of_queries(of_query["qid"], clusters)
    if not testable(column, cluster):
        return row | {"reason": untestable(column, cluster)}
    (word,) = words_of([column], margin, [cluster])
    ends = {"low": word["verdict_low"], "high": word["verdict_high"]}
    (ends,) = cut(pl.DataFrame([ends], dict.fromkeys(ends, pl.Float64)), scaled(both, "then", "now")).to_dicts()
    return row | ends | {"verdict": word["verdict"]}


def table(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Build a table with COLUMNS from ``rows``; missing values are null."""
    schema = schema_of(COLUMNS)
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
