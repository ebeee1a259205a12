"""Compare the lengths of a generator's thoughts in tokens: with and without a context, and between retrievers.

The tests are the same as for gains (analysis.mean_tests), over queries or clusters of queries.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests, multiplicity
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import CLUSTER, Clusters, Indexes, cluster_column, indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.equivalence import difference, known, testable, untestable
from ragrelay.analysis.standing import with_one_more
from ragrelay.analysis.verdicts import BETTER, QUERIES_AT_LEAST, TOO_FEW, UNDECIDED, WORSE, of_interval
from ragrelay.base.vocabulary.columns import (
    ANSWERS_PART,
    CONTEXT_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    adjusted,
    boolean,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.generation.thought_marks import CUT, ENDED, NO_END, UNFINISHED

MORE, FEWER = "more", "fewer"
"""Verdicts on a mean difference in tokens; undecided verdicts are worded as for gains."""
WORDS = {BETTER: MORE, WORSE: FEWER}
OF_CONTEXT = list(CONTEXT_COLUMNS)
WORDS_FROM = 36
"""Minimum queries or effective clusters for a verdict: more than for P, as tokens are more skewed (docs/methods.md)."""
FAMILY, P_VALUES = ("against_retriever",), {"p_verdict": "p"}
TOKENS = ("qid", "seed", "thought_tokens", "thought_end")
"""The columns of answer files from which the tables are computed."""
LENGTHS = {
    **CONTEXT_COLUMNS,
    "n": integer("number of answers (queries × seeds), including missing answers", "answers"),
    "n_unknown": integer("number of answers whose thought length is unknown; these answers are excluded from the "
                         "means", "answers"),
    "n_queries": integer("number of queries with a known thought length for at least one seed", "queries"),
    "mean_tokens": number("mean number of tokens per thought over the `n_queries` queries, after averaging each "
                          "query over its seeds; an answer without a thought counts as 0. Cut and unfinished "
                          "thoughts count with the length they reached; if there are any, the mean is a lower bound",
                          "tokens"),
    **INTERVAL,
    "method": INTERVAL_METHOD,
    ENDED: integer("number of thoughts that ended with the end mark", "answers"),
    CUT: integer("number of thoughts that were cut at the budget, before the answer", "answers"),
    UNFINISHED: integer("number of thoughts that didn't end, so that the answer is missing", "answers"),
    NO_END: integer("number of answers without a thought", "answers"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {**ANSWERS_PART, **LENGTHS}
"""Columns of thoughts.csv."""
DIFFERENCES = {
    **CONTEXT_COLUMNS,
    "against_retriever": text("the other side of the comparison: `zeroshot` (thoughts without context), or the primary "
        "pair's reference retriever at the same ordering and k"),
    "n": integer("number of queries with a known thought length on both sides of the comparison", "queries"),
    "n_unpaired": integer("number of queries with a known thought length on only one side", "queries"),
    "mean_tokens": number("mean number of tokens per thought over the `n` queries", "tokens"),
    "against_tokens": number("mean number of tokens per thought for the other side of the comparison", "tokens"),
    "mean_difference": number("`mean_tokens` minus `against_tokens`", "tokens"),
    **INTERVAL,
    "method": INTERVAL_METHOD,
    "p_verdict": number(
        "p-value behind the verdict: the larger of the p-values from Student's test and from Hall's test with 1.75 "
        "times the skewness"
    ),
    "verdict": text(f"`{MORE}` or `{FEWER}` tokens, `{UNDECIDED}` or `{TOO_FEW}`"),
    "stands": boolean("whether the verdict would survive one more query that contradicts the verdict, with a thought "
                      "of mean length on one side and a thought that runs to the budget on the other (with clusters: "
                      "one more cluster of n / n_eff such queries); empty without a verdict"),
    "reason": REASON,
}  # fmt: skip
DIFFERENCE_COLUMNS = {**ANSWERS_PART, **DIFFERENCES, **adjusted(P_VALUES)}
"""Columns of thought_differences.csv."""


def describe_thoughts(
    answers: pl.DataFrame, base: str | None, clusters: Clusters | None, budget: int | None
) -> dict[str, pl.DataFrame]:
    """Compute both tables from the rows of answer files (columns retriever, ordering, k and TOKENS).

    ``base``: the retriever with which others are compared, or None. ``clusters``: each query's cluster number; None if
    queries are independent. ``budget``: a thought's token budget, which bounds the intervals; None if unknown.
    """
    queries = tokens_by_query(answers).with_columns(cluster_column(clusters))
    return {
        "thoughts": thought_lengths(answers, queries, budget),
        "thought_differences": thought_differences(queries, base, budget),
    }


def tokens_by_query(answers: pl.DataFrame) -> pl.DataFrame:
    """Average the token counts of thoughts over seeds; returns columns OF_CONTEXT, qid and tokens (null if unknown).

    An answer without a thought has 0 tokens. If a thought was cut or didn't end, its generated tokens are counted.
    """
    tokens = pl.when(pl.col("thought_end") == NO_END).then(0).otherwise("thought_tokens")
    return answers.group_by(*OF_CONTEXT, "qid", maintain_order=True).agg(tokens=tokens.mean())


def thought_lengths(answers: pl.DataFrame, queries: pl.DataFrame, budget: int | None) -> pl.DataFrame:
    """Describe each cell's thoughts (columns LENGTHS). ``queries``: tokens_by_query's result, with ``cluster``."""
    end = pl.col("thought_end")
    counts = answers.group_by(OF_CONTEXT, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"),
        n_unknown=(pl.col("thought_tokens").is_null() & end.ne_missing(NO_END)).sum().cast(pl.Int64),
        **{name: (end == name).sum().cast(pl.Int64) for name in (ENDED, CUT, UNFINISHED, NO_END)},
    )
    means = [
        dict(zip(OF_CONTEXT, key, strict=True)) | _mean(*known(tokens, cluster), budget)
        for key, (tokens, cluster) in by_cell(queries.sort(*OF_CONTEXT, "qid"), OF_CONTEXT, ["tokens", CLUSTER])
    ]
    schema = {
        name: kind for name, kind in schema_of(LENGTHS).items() if name not in counts.columns or name in OF_CONTEXT
    }
    return counts.join(pl.DataFrame(means, schema=schema), on=OF_CONTEXT, maintain_order="left").select(*LENGTHS)


def thought_differences(queries: pl.DataFrame, base: str | None, budget: int | None) -> pl.DataFrame:
    """Compare each cell's thought lengths with zero-shot and with retriever ``base``, over the same queries.

    Returns columns DIFFERENCES and adjusted p-values. P-values are adjusted within two families: comparisons with
    ``base``, and comparisons with zero-shot. ``queries``: the result of tokens_by_query, with the column ``cluster``.
    As for gains, the verdict is based on the uncorrected 95% interval. Cells without a test have a ``reason``.
    """
    of = pl.col("retriever")
    cells = queries.filter(of != ZEROSHOT)
    sides = [(ZEROSHOT, cells, queries.filter(of == ZEROSHOT), ["qid"])]
    if base is not None:
        sides.append((base, cells.filter(of != base), cells.filter(of == base), ["ordering", "k", "qid"]))
    rows = [
        row
        for against, compared, other, on in sides
        for row in _compare(
            compared.join(other.select(*on, against="tokens"), on=on, how="left"), against, cells, budget
        )
    ]
    table = pl.DataFrame(rows, schema=schema_of(DIFFERENCES))
    return multiplicity.with_adjusted(table, FAMILY, P_VALUES, cells=("retriever", "ordering"))


def _compare(
    paired: pl.DataFrame, against: str, order: pl.DataFrame, budget: int | None
) -> Iterator[dict[str, object]]:
    """Yield a row per cell of ``paired`` (OF_CONTEXT, qid, tokens, against, cluster), in the order of ``order``."""
    places = order.select(OF_CONTEXT).unique(maintain_order=True).with_row_index("place")
    laid = paired.join(places, on=OF_CONTEXT).sort("place", "qid")
    for key, (tokens, other, cluster) in by_cell(laid, OF_CONTEXT, ["tokens", "against", CLUSTER]):
        both, either = np.isfinite(tokens) & np.isfinite(other), np.isfinite(tokens) | np.isfinite(other)
        n = int(both.sum())
        row = dict(zip(OF_CONTEXT, key, strict=True)) | {"against_retriever": against, "n": n}
        row["n_unpaired"] = int(either.sum()) - n
        if n:
            means = {"mean_tokens": tokens[both].mean(), "against_tokens": other[both].mean()}
            row |= {name: float(value) for name, value in means.items()}
            row["mean_difference"] = float(difference(tokens[both], other[both]).mean())
        yield row | compared(tokens[both], other[both], indexes(cluster[both]), budget)


def _mean(tokens: Array, cluster: Indexes | None, budget: int | None) -> dict[str, object]:
    """Return n_queries, mean_tokens and its interval, or why there is none."""
    row: dict[str, object] = {"n_queries": len(tokens)}
    if len(tokens):
        row["mean_tokens"] = float(tokens.mean())
    if testable(tokens, cluster):
        most = None if budget is None else max(budget, tokens.max())
        return row | _interval(mean_tests.cautious(tokens, cluster), cluster, 0.0, most)
    equal = len(tokens) >= QUERIES_AT_LEAST and is_constant(tokens)
    return row | {"reason": "all queries have the same number of tokens" if equal else untestable(tokens, cluster)}


def compared(tokens: Array, other: Array, cluster: Indexes | None, budget: int | None) -> dict[str, Any]:
    """Test the mean of ``tokens`` - ``other`` (n,); returns the interval, p_verdict, verdict, stands and reason."""
    differences = difference(tokens, other)
    size = len(differences) if cluster is None else mean_tests.ClusterMeans.of(differences, cluster).effective
    enough = size >= WORDS_FROM and mean_tests.enough(differences, cluster)
    if not testable(differences, cluster):
        return {"verdict": UNDECIDED if enough else TOO_FEW, "reason": untestable(differences, cluster)}
    means = mean_tests.cautious(differences, cluster)
    most = None if budget is None else max(budget, tokens.max(), other.max())
    row = _interval(means, cluster, None if most is None else -most, most)
    word = of_interval(row["low"], row["high"])
    verdict = WORDS.get(word, word) if enough else TOO_FEW
    row["stands"] = (
        None if most is None else _stands(verdict, differences, cluster, tokens.mean() - most, most - other.mean())
    )
    reason = mean_tests.unbounded(row["low"], differences, cluster)
    return row | {"p_verdict": float(means.p_value()[0]), "verdict": verdict, "reason": reason}


def _stands(verdict: str, differences: Array, cluster: Indexes | None, least: float, most: float) -> bool | None:
    """Return whether ``verdict`` survives one more query with the difference ``least`` or ``most`` against it."""
    if verdict == MORE:
        return bool(with_one_more(differences, least, cluster).interval()[0][0] > 0)
    return bool(with_one_more(differences, most, cluster).interval()[1][0] < 0) if verdict == FEWER else None


def _interval(
    means: mean_tests.Means | mean_tests.ClusterMeans, cluster: Indexes | None, least: float | None, most: float | None
) -> dict[str, Any]:
    """Return low, high and method, with the ends limited to the possible range of means, ``least`` to ``most``."""
    (low,), (high,) = (np.clip(ends, least, most) for ends in means.interval())
    method = mean_tests.METHOD if cluster is None else mean_tests.METHOD_OF_CLUSTERS
    return {"low": mean_tests.end(low), "high": mean_tests.end(high), "method": method}
