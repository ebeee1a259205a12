"""Correlate measures with P within queries: does a better context for the same query come with a better answer?"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis import mean_tests
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import Clusters, Indexes, of_queries
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, TOO_FEW, UNDECIDED, few, of_correlation
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    REFERENCES,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)
from ragrelay.base.vocabulary.names import UNSEEN, ZEROSHOT
from ragrelay.base.vocabulary.orderings import distinct_orderings

ALL, WITHOUT_ORACLES, DOSES = "all", "without oracles", "doses"
METHOD = f"Fieller and jackknife over queries, the wider: {mean_tests.METHOD}"
ALL_ORDERINGS = "all"
TABLE = {
    "ordering": text("order of the passages in the prompt, or `all` in rows that pool all orderings"),
    "k": integer("number of passages in the context; empty in rows that pool all k", "passages"),
    "references": REFERENCES,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "retrievers": text("retrievers whose contexts for the same query are compared: `all`; `without oracles`, all "
                       "except oracles; or `doses`, only those of kind `graded`"),
    "n_retrievers": integer("number of retrievers whose contexts are compared", "retrievers"),
    "r": number("repeated-measures correlation between the measure (or predictor) and P; on unseen references, P − P₀ "
                "replaces P", "−1 to 1"),
    **INTERVAL,
    "p_value": number("two-sided p-value for the null hypothesis that r is 0, with queries as the unit of analysis"),
    "verdict": text("verdict on r: `above zero`, `below zero`, `undecided` or `too few queries`"),
    "n_queries": integer("number of queries whose contexts differ in P or in the measure (or predictor) for at least "
        "one combination of ordering and k", "queries"),
    "n": integer("number of values of P behind `r`: one for each query, retriever, ordering and k, averaged over "
        "seeds", "values"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of within.csv."""


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of within.csv from the answers and rankings in ``given``."""
    return within_queries(given.cells, given.measured, given.rankings.kinds, given.clusters)


def within_queries(
    utility: pl.DataFrame, retrieval: pl.DataFrame, kinds: Mapping[str, str], clusters: Clusters | None = None
) -> pl.DataFrame:
    """Compute the repeated-measures correlation between each measure and P: one row (``SCHEMA``) per group and cell.

    ``utility`` has the columns utility.COLUMNS, ``retrieval`` has retriever, qid, measure, k and value, and ``kinds``
    gives each retriever's kind. For each ordering and k, the measure and P are centred per query, and r is Pearson's r
    of the residuals (Bakdash and Marusich 2017, Frontiers in Psychology 8). Rows with ordering ``all`` (k is null) pool
    all orderings and k after this centring; orderings that give the same prompts at a k are counted once. For unseen
    references, P - P_0 is used instead of P, because each context has a different reference set.

    ``retrievers`` is ``all`` (all kinds except graded and position, whose relevance is set by design), ``without
    oracles`` or ``doses`` (all graded retrievers). The last two groups have no rows if they contain fewer than two
    retrievers or the same retrievers as ``all``. For ``low``, ``high`` (95%), p_value (null hypothesis: r = 0) and the
    verdict, the unit of analysis is the query with all its answers. Two tests from mean_tests must agree: the first
    tests r as a ratio of two means over queries, with Fieller's interval; the second tests Fisher's z of r as a mean of
    jackknife pseudo-values (Tukey 1958). p_value is the larger p-value, and the interval contains both intervals. If
    there is no r or no interval, ``reason`` says why. A query whose contexts all have the same measure and P, for
    example because all retrievers rank the same passage first, doesn't contribute to r and isn't counted. verdicts.few
    determines whether enough queries are left. If queries form ``clusters``, the unit of analysis is the cluster.
    """
    utility = utility.filter(pl.col("retriever") != ZEROSHOT)
    rows = [
        row
        for references in utility["references"].unique().sort()
        for measure in retrieval["measure"].unique().sort()
        for row in _rows(
            utility.filter(references=references),
            retrieval.filter(pl.col("value").is_not_nan(), measure=measure),
            {"references": references, "measure": measure},
            kinds,
            clusters,
        )
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def members(kinds: Mapping[str, str]) -> dict[str, list[str]]:
    """Return each group's retrievers, leaving out groups of fewer than two retrievers and groups equal to ``all``."""
    retrievers = [name for name, kind in kinds.items() if kind not in ("graded", "position")]
    groups = {
        WITHOUT_ORACLES: [name for name in retrievers if kinds[name] != "oracle"],
        DOSES: [name for name, kind in kinds.items() if kind == "graded"],
    }
    return {ALL: retrievers} | {name: group for name, group in groups.items() if len(group) > 1 and group != retrievers}


def _rows(
    utility: pl.DataFrame,
    retrieval: pl.DataFrame,
    names: dict[str, str],
    kinds: Mapping[str, str],
    clusters: Clusters | None,
) -> Iterator[dict[str, object]]:
    answer = pl.col("p") - pl.col("p0") if names["references"].endswith(UNSEEN) else pl.col("p")
    qids = utility["qid"].unique().sort()
    cluster = of_queries(qids, clusters)
    joined = (
        utility.select("retriever", "ordering", "k", "qid", answer.alias("answer"))
        .join(retrieval.select("retriever", "k", "qid", "value"), on=["retriever", "k", "qid"])
        .join(pl.DataFrame({"qid": qids}).with_row_index("place"), on="qid")
        .drop_nulls()
        .sort("ordering", "k", "place", "retriever")
    )
    for group, retrievers in members(kinds).items():
        of_group = joined.filter(pl.col("retriever").is_in(retrievers))
        sums = {
            key: _sums(place.astype(np.intp), value, answer, len(qids))
            for key, (place, value, answer) in by_cell(of_group, ["ordering", "k"], ["place", "value", "answer"])
        }
        shared = names | {"retrievers": group, "n_retrievers": len(retrievers)}
        for (ordering, k), cell_sums in sums.items():
            yield shared | {"ordering": ordering, "k": k} | repeated_measures(cell_sums, cluster)
        alike = distinct_orderings(sums)
        distinct = [cell_sums for key, cell_sums in sums.items() if alike[key] == key]
        if distinct:
            yield shared | {"ordering": ALL_ORDERINGS, "k": None} | repeated_measures(np.sum(distinct, axis=0), cluster)


def _sums(place: np.ndarray, x: Array, y: Array, queries: int) -> Array:
    """Return per query (5, queries): points, centred sums of xx, yy and xy, and whether there are two points.

    The first four are 0 for queries with one point, and if all points are equal up to rounding.
    """
    count = np.bincount(place, minlength=queries)
    x, y = (
        column - (np.bincount(place, column, queries) / np.maximum(count, 1))[place]
        for column in (x, y)
    )  # fmt: skip
    sums = np.array([count, *(np.bincount(place, column, queries) for column in (x * x, y * y, x * y))])
    differs = (count > 1) & (sums[1:3].max(axis=0) > ROUNDING * count)
    return np.array([*np.where(differs, sums, 0.0), count > 1])


def repeated_measures(sums: Array, cluster: Indexes | None = None) -> dict[str, object]:
    """Compute r with an interval and a test from ``sums`` (5, queries), which are returned by ``_sums``.

    The measure (or P) counts as constant if its sum of squares is only a rounding error. ``cluster`` (queries,) holds
    each query's cluster number; sums are then added up within clusters.
    """
    differs, compared = sums[0] > 0, sums[4] > 0
    points, xx, yy, xy = sums[:4, differs]
    n = len(points)
    if cluster is None:
        too_few = few(differs[compared].astype(np.float64))
    else:
        _, of_query = np.unique(cluster[compared], return_inverse=True)
        too_few = few(np.bincount(of_query, differs[compared]).astype(np.float64), units=("cluster", "clusters"))
    row: dict[str, Any] = {"n_queries": n, "n": int(points.sum()), "verdict": TOO_FEW if too_few else UNDECIDED}
    if n < QUERIES_AT_LEAST:
        return row | {"reason": too_few}
    for values, name in ((xx, "the measure"), (yy, "P")):
        if not values.sum() > ROUNDING * points.sum():
            return row | {"reason": f"{name} is constant within queries"}
    row["r"] = r = float(np.clip(xy.sum() / np.sqrt(xx.sum() * yy.sum()), -1.0, 1.0))
    if too_few:
        return row | {"reason": too_few}
    if 1.0 - abs(r) < ROUNDING:
        return row | {"reason": "the correlation is perfect, so it has no sampling variance"}
    if cluster is not None:
        _, of_query = np.unique(cluster[differs], return_inverse=True)
        xx, yy, xy = (np.bincount(of_query, column) for column in (xx, yy, xy))
    pseudo = _pseudo_values(xx, yy, xy)
    if pseudo is None:
        return row | {"reason": "without one of the queries, the correlation is undefined or perfect"}
    if is_constant(xy) or is_constant(pseudo):
        return row | {"reason": "every query has the same influence on the correlation"}
    # Once xx and yy are scaled to the same sum, r is the mean of xy over the mean of (xx + yy) / 2.
    scale = np.sqrt(yy.sum() / xx.sum())
    ratio = mean_tests.ratio_interval(xy, (scale * xx + yy / scale) / 2, limit=1.0) or (-1.0, 1.0)
    products, of_z = mean_tests.Means.of(xy[:, None]), mean_tests.Means.of(pseudo[:, None])
    ends = np.tanh(of_z.interval())
    low, high = min(ratio[0], float(ends[0, 0])), max(ratio[1], float(ends[1, 0]))
    p_value = float(max(products.p_value()[0], of_z.p_value()[0]))
    verdict = of_correlation(low, high, p_value)
    return row | {"low": low, "high": high, "p_value": p_value, "verdict": verdict, "method": METHOD}


def _pseudo_values(xx: Array, yy: Array, xy: Array) -> Array | None:
    """Compute jackknife pseudo-values (n,) of Fisher's z of r from sums per query (n,); None if one isn't finite."""
    without = [column.sum() - column for column in (xx, yy, xy)]
    squares = without[0] * without[1]
    # If one query makes up a complete sum, only a rounding error is left without it.
    if not (squares > (ROUNDING * xx.sum()) * (ROUNDING * yy.sum())).all():
        return None
    left_out = without[2] / np.sqrt(squares)
    if (1.0 - np.abs(left_out) < ROUNDING).any():
        return None
    z = np.arctanh(xy.sum() / np.sqrt(xx.sum() * yy.sum()))
    pseudo: Array = len(xx) * z - (len(xx) - 1) * np.arctanh(left_out)
    return pseudo
