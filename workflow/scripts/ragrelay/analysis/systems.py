"""Compare retrievers' mean P, paired by query, with one pair as the study's primary comparison."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import CLUSTER, Clusters, cluster_column, indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.equivalence import difference, known, testable, untestable, words_of
from ragrelay.analysis.mean_tests import cautious, end, unbounded
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.paired_tests import POWER, detectable_effect
from ragrelay.analysis.remarks import REMARK
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import STANDS
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import OF_DIFFERENCE, QUERIES_AT_LEAST
from ragrelay.base.vocabulary.columns import CELL_COLUMNS, REASON, STUDY_PART, integer, number, schema_of, text
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.primary import Primary

PRIMARY, REFERENCE, EXPLORATORY = "primary", "reference", "exploratory"
TABLE = {
    **CELL_COLUMNS,
    "against_retriever": text("name of the other retriever in the pair"),
    "role": text("role of the pair: `primary` for the study's primary pair, which is tested alone; `reference` for "
                 "other pairs that include the reference retriever; `exploratory` for all remaining pairs"),
    "n": integer("number of queries with a value of P for both retrievers", "queries"),
    "n_unpaired": integer("number of queries with a value of P for only one of the retrievers", "queries"),
    "margin": number("the scorer's equivalence margin; empty if none is set", "the scorer's"),
    "mean_difference": number("mean over queries of P with the retriever minus P with the other "
                              "retriever", "the scorer's"),
    "sd_difference": number("standard deviation of the differences over queries", "the scorer's"),
    "detectable_difference": number("difference in mean P that 80% of studies with this number of queries would detect",
                                    "the scorer's"),
    "queries_for_margin": integer("number of queries that a study would need for 80% power to show equivalence within "
                                  "the margin", "queries"),
    "level": number("confidence level of the interval, chosen so that the intervals of all pairs with the same role in "
                    "a cell hold jointly at 95%"),
    "low": number("lower end of the interval", "the scorer's"),
    "high": number("upper end of the interval", "the scorer's"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the mean difference is 0"),
    "p_bonferroni": number("`p_value` after Bonferroni's correction: multiplied by the number of tested pairs with the "
                           "same role in the cell, at most 1"),
    "family_size": integer("number of tested pairs with the same role in the cell", "pairs"),
    "verdict": text("verdict, based on the interval from `low` to `high`: "
                    f"{', '.join(f'`{word}`' for word in OF_DIFFERENCE)}"),
    "reason": REASON,
    "length_ratio": number("for the primary pair: ratio of the two retrievers' geometric mean answer lengths, each "
                           "length counted as tokens + 1"),
    "equal_length_difference": number("for the primary pair: mean difference in P, adjusted to answers of equal length",
                                      "the scorer's"),
    "equal_length_low": number("lower end of the 95% interval for `equal_length_difference`", "the scorer's"),
    "equal_length_high": number("upper end of the 95% interval for `equal_length_difference`", "the scorer's"),
    "equal_length_reason": text("why the primary pair has no `equal_length_difference`; otherwise empty"),
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of systems.csv."""
SCHEMA = schema_of(TABLE)
NO_LENGTHS = "the answers’ lengths are unknown"
SAME_LENGTHS = "each query’s answers have the same length"
EITHER_LONGER_AT_LEAST = 5
"""Minimum number of queries where each of the pair has the longer answer (or a tie), to avoid extrapolating."""
CELL_OF_PAIRS = ["ordering", "k", "references"]
WORDS = {
    "level": "verdict_level",
    "low": "verdict_low",
    "high": "verdict_high",
    "p_value": "p_difference",
    "p_bonferroni": "p_difference_bonferroni",
    "verdict": "verdict",
    "stands": "stands",
    "remark": "remark",
}
"""Columns of TABLE, and what words_of calls them."""
ASSUMED_SD = 0.2
"""Assumed standard deviation of differences in P over queries until there are answers; on TREC DL, it is .15 to .25."""
CAUTION = 1.5


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of systems.csv from the answers in ``given``."""
    reference_retriever, margin, primary = given.compared
    retrievers = list(given.rankings.retrieval)
    return systems(given.cells, retrievers, reference_retriever, primary, margin, given.answers.lengths, given.clusters)


def systems(
    utility: pl.DataFrame,
    retrievers: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float | None,
    lengths: pl.DataFrame | None = None,
    clusters: Clusters | None = None,
) -> pl.DataFrame:
    """Compare the mean P of all pairs of ``retrievers``: one row (``TABLE``) per pair, ordering, k and reference set.

    ``utility`` has utility.COLUMNS. Unseen references are left out, because they differ between retrievers. In each
    pair, the P of the retriever listed first in ``retrievers`` is subtracted, unless the other retriever is the
    reference retriever or the reference of the ``primary`` pair. The intervals of all pairs with the same ``role`` in a
    cell have joint 95% coverage (Bonferroni, see equivalence.words_of). Max-T over sign flips of queries would give
    narrower intervals, but doesn't keep the nominal level for few queries with skewed differences (docs/methods.md).

    If queries form ``clusters``, detectable_difference and queries_for_margin are null, because they assume independent
    queries. ``lengths`` (retriever, qid, and tokens averaged over seeds, for the primary pair's cell) is used to
    estimate the primary pair's difference at equal answer length. The estimate doesn't affect any verdict.
    """
    columns = ["place", "query", "p"]
    places = pl.DataFrame({"retriever": list(retrievers)}, schema={"retriever": pl.String}).with_row_index("place")
    queries = utility.select(pl.col("qid").unique().sort()).with_row_index("query")
    cluster = queries.with_columns(cluster_column(clusters))[CLUSTER].fill_null(np.nan).to_numpy()
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN))
    laid = seen.join(places, on="retriever").join(queries, on="qid").sort(*CELL_OF_PAIRS, "place", "query")
    rows: list[dict[str, Any]] = []
    tokens = {} if lengths is None else _by_query(lengths, queries)
    for cell, numbers in by_cell(laid, CELL_OF_PAIRS, columns):
        place, query = numbers[:2].astype(np.intp)
        p = np.full((len(retrievers), len(queries)), np.nan)
        p[place, query] = numbers[2]
        named = dict(zip(CELL_OF_PAIRS, cell, strict=True))
        present = [retrievers[number] for number in np.unique(place)]
        rows += _rows(named, dict(zip(retrievers, p, strict=True)), present, reference_retriever, primary, margin,
                      tokens, cluster)  # fmt: skip
    return cut(pl.DataFrame(rows, schema=SCHEMA), scaled(utility, "p"))


def _rows(
    cell: Mapping[str, Any],
    p: Mapping[str, Array],
    present: Sequence[str],
    reference_retriever: str | None,
    primary: Primary | None,
    margin: float | None,
    tokens: Mapping[str, Array],
    cluster: Array,
) -> Iterator[dict[str, Any]]:
    by_role: dict[str, list[tuple[str, str]]] = {PRIMARY: [], REFERENCE: [], EXPLORATORY: []}
    for earlier, later in itertools.combinations(present, 2):
        role, pair = EXPLORATORY, (later, earlier)
        if reference_retriever in pair:
            role, pair = REFERENCE, (later, earlier) if reference_retriever == earlier else (earlier, later)
        if primary is not None and primary.is_of({**cell, "retriever": later}, earlier):
            role, pair = PRIMARY, (primary.retriever, primary.reference)
        by_role[role].append(pair)
    for role, pairs in by_role.items():
        known_of = [known(difference(p[first], p[second]), cluster) for first, second in pairs]
        columns, clusters = zip(*known_of, strict=True) if pairs else ((), ())
        words = words_of(columns, margin, clusters)
        size = sum("p_difference" in word for word in words)
        for (first, second), differences, of_queries, word in zip(pairs, columns, clusters, words, strict=True):
            either = np.isfinite(p[first]) | np.isfinite(p[second])
            n = len(differences)
            row = {"retriever": first, "against_retriever": second, "role": role, "n": n}
            row |= {"n_unpaired": int(either.sum()) - n, "margin": margin, "family_size": size}
            if n:
                row["mean_difference"] = float(differences.mean())
            if testable(differences, of_queries):
                sd = float(differences.std(ddof=1))
                row["sd_difference"] = sd
                if of_queries is None:  # both assume independent queries
                    row["detectable_difference"] = detectable_difference(n, sd)
                    row["queries_for_margin"] = None if margin is None else queries_for_margin(margin, sd)
            if role == PRIMARY:
                of_lengths = tokens.get(first), tokens.get(second)
                row |= _equal_length(difference(p[first], p[second]), cluster, *of_lengths)
            test = {name: word.get(of_words) for name, of_words in WORDS.items()}
            reason = unbounded(test["low"], differences, of_queries)
            if test["p_value"] is None:
                reason = untestable(differences, of_queries)
            yield {**cell, **row, **test, "reason": reason}


def _by_query(lengths: pl.DataFrame, queries: pl.DataFrame) -> dict[str, Array]:
    """Return tokens (Q,), keyed by retriever; NaN where missing."""
    by_retriever = {}
    for (retriever,), own in lengths.group_by("retriever", maintain_order=True):
        column = queries.join(own, on="qid", how="left", maintain_order="left")["tokens"]
        by_retriever[str(retriever)] = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    return by_retriever


def _equal_length(differences: Array, cluster: Array, tokens: Array | None, against: Array | None) -> dict[str, object]:
    """Estimate the mean of ``differences`` in P (Q,) at equal answer length: columns of TABLE.

    It is the intercept of a least-squares regression of the differences on the differences in log(1 + tokens). The
    interval comes from mean_tests over its jackknife pseudo-values. There is none if either retriever has fewer than
    EITHER_LONGER_AT_LEAST queries where its answer is at least as long as the other's.
    """
    if tokens is None or against is None:
        return {"equal_length_reason": NO_LENGTHS}
    log_ratio = np.log1p(tokens) - np.log1p(against)
    paired = np.isfinite(log_ratio) & np.isfinite(differences)
    x, y = log_ratio[paired], differences[paired]
    if not len(x):
        return {"equal_length_reason": NO_LENGTHS}
    row: dict[str, object] = {"length_ratio": float(np.exp(x.mean()))}
    if min((x >= 0).sum(), (x <= 0).sum()) < EITHER_LONGER_AT_LEAST:
        few = f"fewer than {EITHER_LONGER_AT_LEAST} queries have an answer that is as long or longer with either"
        return row | {"equal_length_reason": few}
    design = np.column_stack([np.ones(len(x)), x])
    if is_constant(x):
        return row | {"equal_length_reason": SAME_LENGTHS}
    inverse = np.linalg.pinv(design)
    intercept, residuals = float((inverse @ y)[0]), y - design @ (inverse @ y)
    leverage = np.einsum("nd,dn->n", design, inverse)
    row["equal_length_difference"] = intercept
    pseudo = intercept + (len(x) - 1) * inverse[0] * residuals / (1.0 - leverage)
    of_pairs = indexes(cluster[paired])
    if not testable(pseudo, of_pairs):
        return row | {"equal_length_reason": untestable(pseudo, of_pairs)}
    (low,), (high,) = cautious(pseudo, of_pairs).interval()
    reason = unbounded(end(low), pseudo, of_pairs)
    return row | {"equal_length_low": end(low), "equal_length_high": end(high), "equal_length_reason": reason}


def detectable_difference(n: int, sd: float) -> float:
    """Return the smallest difference that 80% of studies with ``n`` queries and standard deviation ``sd`` would detect.

    This is the difference detected by a paired t-test at 5%, multiplied by 1 + CAUTION / n because Hall's test must be
    significant too. With normal differences, the power is between 77% and 80% for 12 or more queries (docs/methods.md).
    """
    return sd * detectable_effect(n) * (1.0 + CAUTION / n)


def queries_for_margin(margin: float, sd: float) -> int:
    """Return how many queries a study needs to show equivalence with 80% probability, assuming no true difference.

    Equivalence means that the 95% interval lies within ± ``margin``. ``sd``: the standard deviation of the differences.
    """
    reach = float(stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(1.0 - (1.0 - POWER) / 2))
    return max(QUERIES_AT_LEAST, math.ceil((reach * sd / margin) ** 2))
