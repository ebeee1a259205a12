"""Summarise a recheck: how many answers are identical, where the others first differ, and how scores change."""

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
    "n_scored": integer("number of answers for which both the stored and the regenerated version have a "
                        "score", "answers"),
    "n_unpaired": integer("number of answers for which only the stored or only the regenerated version has a "
                          "score", "answers"),
    "margin": number("the scorer's `equivalence_margin` in the configuration", "the scorer's"),
    "n_flips": integer("number of answers whose score changed by more than the margin; for a scorer with only two "
        "values, such as 0 and 1, this includes every change", "answers"),
    "n_queries": integer("number of queries with at least one answer that has both scores", "queries"),
    "p_then": number("mean score of the stored answers: first averaged within each query, then over "
                     "queries", "the scorer's"),
    "p_now": number("mean score of the regenerated answers: first averaged within each query, then over "
                    "queries", "the scorer's"),
    "mean_difference": number("`p_now` minus `p_then`; exactly 0 if no score changed", "the scorer's"),
    "low": number("lower end of the 95% interval for `mean_difference`, computed over queries", "the scorer's"),
    "high": number("upper end of the 95% interval for `mean_difference`", "the scorer's"),
    "verdict": text("verdict, based on the interval from `low` to `high` and on the margin, as in `equivalence.csv`; "
                    "empty if there is no interval"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {
    **STUDY_PART,
    "n_stored": integer("number of answers that the study has stored, counting each combination of prompt and seed "
                        "once", "answers"),
    "n": integer("number of answers that were drawn and regenerated", "answers"),
    "n_equal": integer("number of regenerated answers that are bit-identical to the stored ones in text, finish reason "
                       "and token counts", "answers"),
    "equal": number("share of regenerated answers that are bit-identical to the stored ones"),
    "equal_low": number("lower end of Wilson's 95% interval for `equal`"),
    "equal_high": number("upper end of Wilson's 95% interval for `equal`"),
    "n_equal_here": integer("number of regenerated answers that stay the same when generated once more, split into "
        "two batches; empty if all answers are bit-identical to the stored ones", "answers"),
    "unit": text("unit of `median_until`: `tokens` of the generator's tokenizer, or `words` if the tokenizer is "
        "unknown"),
    "median_until": number("median number of tokens or words before the first difference, over answers with different "
        "texts"),
    **CHANGES,
}  # fmt: skip
"""Columns of recheck.csv; if every scorer asks a judge, a row's scorer and scores are empty."""


def equality(answers: pl.DataFrame) -> dict[str, object]:
    """Compute the summary's columns from ``n`` to ``median_until``. ``answers`` has columns comparison.COLUMNS.

    The interval is Wilson's (1927), which assumes that answers are independent.
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
    """Compute how scores changed (columns CHANGES). ``scores`` has columns scores.COLUMNS.

    The interval is computed with analysis.mean_tests, over queries or, if ``clusters`` is given, over clusters.
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
