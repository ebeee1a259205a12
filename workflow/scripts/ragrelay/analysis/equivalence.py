"""Test whether each retriever's P is equivalent to the reference retriever's, within a margin (two one-sided tests)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests, multiplicity
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import CLUSTER, Clusters, Indexes, cluster_column, indexes
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import CONSTANT, is_constant
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.remarks import REMARK, remark
from ragrelay.analysis.scale import cut, scaled
from ragrelay.analysis.standing import STANDS, stands
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import OF_DIFFERENCE, QUERIES_AT_LEAST, TOO_FEW, UNDECIDED, of_interval
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    CELL_OF_RETRIEVER,
    INTERVAL_METHOD,
    REASON,
    STUDY_PART,
    TEST_FAMILY,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.primary import Primary

FAMILY = ("ordering", "k", "references")
P_VALUES = {"p_value": "p", "p_not_worse": "p_not_worse"}
LEVEL = 1.0 - 2.0 * ALPHA
TESTED = {
    **CELL_COLUMNS,
    "against_retriever": text("name of the reference retriever"),
    "n": integer("number of queries with a value of P for both retrievers", "queries"),
    "n_unpaired": integer("number of queries with a value of P for only one of the retrievers", "queries"),
    "margin": number("the scorer's equivalence margin; empty if none is set", "the scorer's"),
    "mean_difference": number("mean over queries of P with the retriever minus P with the reference "
        "retriever", "the scorer's"),
    "low": number("lower end of the 90% interval", "the scorer's"),
    "high": number("upper end of the 90% interval", "the scorer's"),
    "method": INTERVAL_METHOD,
    "p_not_worse": number("uncorrected one-sided p-value for the null hypothesis that the mean difference is −margin "
        "or less"),
    "p_not_better": number("uncorrected one-sided p-value for the null hypothesis that the mean difference is +margin "
        "or more"),
    "p_value": number("uncorrected p-value of the equivalence test: the larger of the two one-sided p-values"),
    "reason": REASON,
}  # fmt: skip
COLUMNS = {
    **STUDY_PART,
    **{name: column for name, column in TESTED.items() if name != "reason"},
    **{name: column for name, column in adjusted(P_VALUES).items() if name.endswith("_holm")},
    **TEST_FAMILY,
    "verdict": text("verdict, based on the interval from `verdict_low` to `verdict_high`: "
        f"{', '.join(f'`{word}`' for word in OF_DIFFERENCE)}"),
    "reason": REASON,
    "p_difference": number("uncorrected two-sided p-value for the null hypothesis that the mean difference is 0"),
    "p_difference_bonferroni": number("`p_difference` after Bonferroni's correction: multiplied by the number of "
        "retrievers tested in the cell, at most 1"),
    "verdict_level": number("confidence level of the interval behind the verdict, chosen so that these intervals hold "
        "jointly at 95% for all retrievers in a cell"),
    "verdict_low": number("lower end of the interval behind the verdict", "the scorer's"),
    "verdict_high": number("upper end of the interval behind the verdict", "the scorer's"),
    "stands": STANDS,
    "remark": REMARK,
}  # fmt: skip
"""Columns of equivalence.csv."""
WORDS = ("verdict", "p_difference", "p_difference_bonferroni", "verdict_level", "verdict_low", "verdict_high", "stands",
         "remark")  # fmt: skip
"""The columns computed by ``words_of``."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of equivalence.csv from the answers in ``given``."""
    return equivalences(given.cells, *given.compared, clusters=given.clusters)


def equivalences(
    utility: pl.DataFrame,
    reference_retriever: str | None,
    margin: float | None,
    primary: Primary | None = None,
    clusters: Clusters | None = None,
) -> pl.DataFrame:
    """Compare other retrievers' mean P_k with the reference retriever's mean P_k, paired by query.

    ``utility`` has the columns utility.COLUMNS. There is one row per cell. Unseen references are left out, because they
    differ between retrievers. ``p_not_worse`` tests whether the mean difference is above -margin, and ``p_not_better``
    whether it is below margin. The larger of the two, ``p_value``, tests for equivalence (Schuirmann 1987). The tests
    multiply the skewness by 1.75 (see mean_tests). ``low`` and ``high`` are the ends of the 90% interval. p_holm and
    p_not_worse_holm are adjusted over all retrievers with the same ordering, k and references (a ``family``).

    The ``verdict`` is based on the interval from ``verdict_low`` to ``verdict_high``. If m retrievers are tested in a
    family, this interval has the level 1 - 5% / m (Bonferroni), so it excludes 0 if p_difference_bonferroni is below
    0.05. The ``primary`` pair is tested separately, at 95%, and isn't included in m. Holm's stepwise levels wouldn't be
    valid for verdicts that use the margin (docs/methods.md).
    """
    seen = utility.filter(~pl.col("references").str.ends_with(UNSEEN)).select(*CELL, "qid", "p")
    reference = seen.filter(pl.col("retriever").eq_missing(pl.lit(reference_retriever))).drop("retriever")
    paired = (
        seen.filter(pl.col("retriever").ne_missing(pl.lit(reference_retriever)))
        .join(reference.rename({"p": "against"}), on=[*CELL_OF_RETRIEVER, "qid"], how="left")
        .filter(
            pl.struct(CELL_OF_RETRIEVER).is_in(
                reference.select(pl.struct(CELL_OF_RETRIEVER).unique()).to_series().implode()
            )
        )
        .with_columns(cluster_column(clusters))
        .sort(*CELL, "qid")
    )
    tests = multiplicity.with_adjusted(pl.DataFrame(_rows(paired, margin), schema=schema_of(TESTED)), FAMILY, P_VALUES)
    differences = {key: known(difference(p, against), cluster) for key, (p, against, cluster) in _columns(paired)}
    words: dict[tuple[object, ...], dict[str, object]] = {}
    for _, family in tests.group_by("family", maintain_order=True):
        split: dict[bool, list[tuple[object, ...]]] = {True: [], False: []}
        for row in family.select(CELL).iter_rows(named=True):
            split[primary is not None and primary.is_of(row, reference_retriever)].append(tuple(row.values()))
        for keys in split.values():
            columns, of_columns = zip(*(differences[key] for key in keys), strict=True) if keys else ((), ())
            words |= dict(zip(keys, words_of(columns, margin, of_columns), strict=True))
    of_verdict = pl.DataFrame(
        [words[key] for key in tests.select(CELL).iter_rows()], schema={name: COLUMNS[name].dtype for name in WORDS}
    )
    named = tests.hstack(of_verdict).with_columns(against_retriever=pl.lit(reference_retriever, pl.String))
    named = cut(named, scaled(utility, "p"))
    return named.select(name for name in COLUMNS if name not in STUDY_PART)


def words_of(
    columns: Sequence[Array], margin: float | None, clusters: Sequence[Indexes | None] | None = None
) -> list[dict[str, Any]]:
    """Compute verdicts (columns WORDS) on mean differences between retrievers, from intervals with joint 95% coverage.

    Each of ``columns`` (n,) has one difference per query. ``clusters``: each column's cluster numbers (n,), if any.
    """
    of_columns = list(zip(columns, clusters or [None] * len(columns), strict=True))
    tested = [place for place, column in enumerate(of_columns) if testable(*column)]
    counts = [mean_tests.few(*column) for column in of_columns]
    verdicts: list[dict[str, object]] = [
        {"verdict": TOO_FEW if counted else UNDECIDED, "remark": counted} for counted in counts
    ]
    level = 1.0 - ALPHA / max(len(tested), 1)
    for place in tested:
        means = mean_tests.cautious(*of_columns[place])
        (low,), (high,), (p_value,) = *means.interval(level), means.p_value()
        low, high = mean_tests.end(low), mean_tests.end(high)
        verdict = TOO_FEW if counts[place] else of_interval(low, high, margin)
        verdicts[place] = {
            "verdict": verdict,
            "stands": stands(columns[place], verdict, level, margin, of_columns[place][1]),
            "remark": remark(columns[place], verdict, level, of_columns[place][1]),
            "p_difference": float(p_value),
            "p_difference_bonferroni": min(1.0, float(p_value) * len(tested)),
            "verdict_level": level,
            "verdict_low": low,
            "verdict_high": high,
        }
    return verdicts


def difference(p: Array, against: Array) -> Array:
    """Return p - against (n,), with NaN for missing values and 0 for differences that are only rounding errors."""
    differences: Array = p - against
    differences[np.abs(differences) <= CONSTANT * np.maximum(1.0, np.abs(p))] = 0.0
    return differences


def known(column: Array, cluster: Array) -> tuple[Array, Indexes | None]:
    """Drop NaN values from ``column``; return the remaining values and, for clustered queries, the cluster numbers."""
    return column[np.isfinite(column)], indexes(cluster[np.isfinite(column)])


def testable(difference: Array, cluster: Indexes | None = None) -> bool:
    """Return whether a column of differences can be tested, which requires enough queries and unequal differences.

    If queries form clusters (``cluster``), the test requires enough clusters and unequal cluster means.
    """
    if cluster is None:
        return len(difference) >= QUERIES_AT_LEAST and not is_constant(difference)
    sums = mean_tests.ClusterMeans.of(difference, cluster)
    return len(sums.sums) >= QUERIES_AT_LEAST and not is_constant(sums.sums / sums.sizes)


def _columns(paired: pl.DataFrame) -> Iterator[tuple[tuple[object, ...], Array]]:
    """Yield each cell with P, the reference retriever's P and the queries' clusters (3, n)."""
    return by_cell(paired, CELL, ["p", "against", CLUSTER])


def _rows(paired: pl.DataFrame, margin: float | None) -> Iterator[dict[str, Any]]:
    for key, (p, against, clusters) in _columns(paired):
        paired_difference, cluster = known(difference(p, against), clusters)
        n = len(paired_difference)
        row = dict(zip(CELL, key, strict=True)) | {"n": n, "n_unpaired": len(p) - n}
        yield row | {"margin": margin} | _test(paired_difference, cluster, margin)


def untestable(difference: Array, cluster: Indexes | None) -> str:
    """Return why a column of differences can't be tested: too few queries or clusters, or no variation."""
    if len(difference) < QUERIES_AT_LEAST:
        return f"fewer than {QUERIES_AT_LEAST} queries"
    if cluster is not None and len(np.unique(cluster)) < QUERIES_AT_LEAST:
        return f"fewer than {QUERIES_AT_LEAST} clusters of queries"
    return "all differences are equal" if is_constant(difference) else "all clusters have the same mean"


def _test(difference: Array, cluster: Indexes | None, margin: float | None) -> dict[str, object]:
    row: dict[str, object] = {}
    if len(difference) >= QUERIES_AT_LEAST:
        row["mean_difference"] = float(difference.mean())
    if not testable(difference, cluster):
        return row | {"reason": untestable(difference, cluster)}
    means = mean_tests.cautious(difference, cluster)
    (low,), (high,) = means.interval(LEVEL)
    row |= {
        "low": mean_tests.end(low),
        "high": mean_tests.end(high),
        "method": mean_tests.METHOD if cluster is None else mean_tests.METHOD_OF_CLUSTERS,
        "reason": mean_tests.unbounded(mean_tests.end(low), difference, cluster),
    }
    if margin is None:
        return row
    not_worse, not_better = float(means.p_greater(-margin)[0]), float(means.p_less(margin)[0])
    return row | {
        "p_not_worse": not_worse,
        "p_not_better": not_better,
        "p_value": max(not_worse, not_better),
    }
