"""Test in each cell whether answers with context score higher or lower than zero-shot answers (P_k against P_0)."""

from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests, multiplicity, paired_tests
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import CLUSTER, Clusters, Indexes, cluster_column, indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import CONSTANT
from ragrelay.analysis.equivalence import testable, untestable
from ragrelay.analysis.remarks import REMARK, remark
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import STANDS, stands
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import TOO_FEW, UNDECIDED, of_difference, of_interval
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    adjusted,
    boolean,
    integer,
    number,
    schema_of,
    text,
)

# A query with a larger share of the sum of |U| is named, because it dominates mean U.
LARGEST_SHARE = 0.2
FAMILY = ("references",)
P_VALUES = {"p_verdict": "p"}
TABLE = {
    **CELL_COLUMNS,
    "n": integer("number of queries with both P and P₀", "queries"),
    "n_unpaired": integer("number of queries with only one of P and P₀", "queries"),
    "mean_p": number("mean P over the queries that have both P and P₀", "the scorer's"),
    "mean_p0": number("mean P₀ over the queries that have both P and P₀", "the scorer's"),
    "mean_difference": number("mean gain (P − P₀) over queries", "the scorer's"),
    "low": number("lower end of the 95% interval for the mean gain, from the same test as `p_verdict`", "the scorer's"),
    "high": number("upper end of the 95% interval for the mean gain", "the scorer's"),
    "method": INTERVAL_METHOD,
    "d_z": number("Cohen's d_z: the mean gain divided by its standard deviation over queries", "standard deviations"),
    "d_z_low": number("lower end of the 95% interval for d_z", "standard deviations"),
    "d_z_high": number("upper end of the 95% interval for d_z", "standard deviations"),
    "t": number("t statistic of the paired t-test"),
    "p_value": number("uncorrected two-sided p-value of the paired t-test; the interval corresponds to `p_verdict`, "
        "not to this p-value"),
    "p_hall": number("uncorrected two-sided p-value of Hall's test for skewed data"),
    "p_verdict": number("p-value behind the verdict and the interval: the larger of the p-values from Student's t-test "
        "and from Hall's test with 1.75 times the skewness"),
    "p_wilcoxon": number("uncorrected two-sided p-value of Wilcoxon's signed-rank test"),
    "p_permutation": number("uncorrected two-sided p-value of the permutation test"),
    "permutations": integer("number of random sign patterns in the permutation test; if fewer patterns exist, the "
        "test uses all of them", "permutations"),
    "verdict": text("verdict on the mean gain: `better`, `worse`, `undecided` or `too few queries`"),
    "ratio_of_means": number("mean P divided by mean P₀, minus 1"),
    "mean_utility": number("mean utility over queries"),
    "median_utility": number("median utility over queries"),
    "utility_disagrees": boolean("whether mean utility and mean gain have opposite signs"),
    "largest_share": number("largest share that a single query contributes to the sum of |utility| over "
        "queries", "0 to 1"),
    "largest_qid": text("id of the query that contributes the largest share, if that share is above 0.2"),
    "reason": REASON,
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted(P_VALUES)}
"""Columns of gain.csv."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of gain.csv from the answers in ``given``."""
    return with_adjusted(
        pl.concat(gains(utility, given.resamples, given.seed, given.clusters) for utility, _ in given.each_retriever())
    )


def gains(utility: pl.DataFrame, permutations: int, seed: int, clusters: Clusters | None = None) -> pl.DataFrame:
    """Test whether one retriever's mean P_k - P_0 is 0, with one row (``SCHEMA``) per ordering, k and reference set.

    Mean P and mean P_0 are computed over the queries with both values. ``p_verdict`` is the p-value of the test behind
    the verdict: the larger of Student's and Hall's p-values (see mean_tests; the skewness is multiplied by 1.75).
    ``low`` and ``high`` are the ends of that test's 95% interval. The verdict is better or worse if this interval
    excludes 0, and undecided otherwise. With fewer than 12 queries, or fewer than 8 with a nonzero difference, the
    verdict is ``too few queries``. With fewer than 5 queries, there is no test, and ``reason`` says why. If queries
    form ``clusters``, the tests use mean_tests.ClusterMeans, and statistics that assume independent queries are null:
    d_z, t and p-values other than p_verdict.
    """
    rows: list[dict[str, Any]] = []
    tested: dict[int, list[tuple[int, Array]]] = defaultdict(list)
    ordered = utility.with_columns(cluster_column(clusters)).sort([*CELL, "qid"])
    qids = dict(ordered.group_by(CELL, maintain_order=True).agg("qid").rows_by_key(CELL, unique=True))
    for key, (p, p0, utilities, numbers) in by_cell(ordered, CELL, ["p", "p0", "utility", CLUSTER]):
        row = dict(zip(CELL, key, strict=True)) | _utilities(utilities, qids[key][0])
        paired = np.isfinite(p) & np.isfinite(p0)
        cluster, differences = indexes(numbers[paired]), _difference(p[paired], p0[paired])
        row |= _gain(p[paired], p0[paired], cluster) | {"n_unpaired": int(len(p) - paired.sum())}
        row["remark"] = mean_tests.few(differences, cluster)
        row["verdict"] = TOO_FEW if row["remark"] else UNDECIDED
        mean = row["mean_utility"]
        if mean is not None and row["n"]:
            row["utility_disagrees"] = bool(np.sign(mean) * np.sign(row["mean_difference"]) < 0)
        if "reason" not in row and cluster is not None:
            row |= _test_of_clusters(differences, cluster)
        elif "reason" not in row:
            tested[row["n"]].append((len(rows), differences))
        rows.append(row)
    for cells in tested.values():
        places, columns = zip(*cells, strict=True)
        for place, result in zip(places, _tests(columns, permutations, seed), strict=True):
            rows[place] |= result
    return cut(pl.DataFrame(rows, schema=SCHEMA), scaled(utility, "p", "p0"))


def with_adjusted(table: pl.DataFrame) -> pl.DataFrame:
    """Add family (one per reference set), family_size, and p_verdict adjusted over all retrievers (p_holm and p_bh)."""
    return multiplicity.with_adjusted(table, FAMILY, P_VALUES, cells=("retriever", "ordering"))


def _difference(p: Array, p0: Array) -> Array:
    difference = p - p0
    # The means of equal answers may differ by rounding, which must not affect ranks and signs.
    difference[np.abs(difference) <= CONSTANT * np.maximum(1.0, np.abs(p))] = 0.0
    return difference


def _gain(p: Array, p0: Array, cluster: Indexes | None) -> dict[str, object]:
    n = len(p)
    if not n:
        return {"n": 0, "reason": "no query has both P and P₀"}
    row: dict[str, object] = {
        "n": n, "mean_p": p.mean(), "mean_p0": p0.mean(), "mean_difference": _difference(p, p0).mean(),
    }  # fmt: skip
    if p0.mean() > 0:
        row["ratio_of_means"] = p.mean() / p0.mean() - 1.0
    if not testable(_difference(p, p0), cluster):
        row["reason"] = untestable(_difference(p, p0), cluster)
    return row


def _utilities(utilities: Array, qids: list[str]) -> dict[str, object]:
    known = np.isfinite(utilities)
    sizes = np.where(known, np.abs(utilities), 0.0)
    if not sizes.sum() > 0:
        return {"mean_utility": None}
    largest, share = int(sizes.argmax()), float(sizes.max() / sizes.sum())
    return {
        "mean_utility": utilities[known].mean(),
        "median_utility": float(np.median(utilities[known])),
        "largest_share": share,
        "largest_qid": qids[largest] if share > LARGEST_SHARE else None,
    }


def _test_of_clusters(differences: Array, cluster: Indexes) -> dict[str, Any]:
    means = mean_tests.ClusterMeans.of(differences, cluster)
    (low,), (high,) = means.interval()
    ends = {"low": mean_tests.end(low), "high": mean_tests.end(high)}
    verdict = TOO_FEW if mean_tests.few(differences, cluster) else of_interval(**ends)
    reason = mean_tests.unbounded(ends["low"], differences, cluster)
    words = {"verdict": verdict, "stands": stands(differences, verdict, cluster=cluster), "reason": reason}
    words["remark"] = remark(differences, verdict, cluster=cluster)
    return ends | words | {"p_verdict": float(means.p_value()[0]), "method": mean_tests.METHOD_OF_CLUSTERS}


def _tests(differences: tuple[Array, ...], permutations: int, seed: int) -> list[dict[str, object]]:
    """Test columns of differences with equal n, and return the columns of TABLE from ``low`` on."""
    columns = np.column_stack(differences)
    means = mean_tests.Means.cautious(columns)
    low, high = means.interval()
    p_hall = mean_tests.Means.of(columns).p_hall()
    cautious = {"low": low, "high": high, "p_hall": p_hall, "p_verdict": means.p_value()}
    results = []
    for place, test in enumerate(paired_tests.all_tests(differences, permutations, seed)):
        row = test | {name: float(values[place]) for name, values in cautious.items()}
        known = {name: value for name, value in row.items() if name in SCHEMA}
        verdict = of_difference(differences[place], row["low"], row["high"])
        words = {"verdict": verdict, "stands": stands(differences[place], verdict)}
        words["remark"] = remark(differences[place], verdict)
        results.append(known | {"method": mean_tests.METHOD, "permutations": permutations} | words)
    return results
