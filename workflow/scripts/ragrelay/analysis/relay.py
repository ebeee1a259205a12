"""Estimate relay: do answers improve more on queries where the ranking improves more?"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.analysis import mean_tests
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import Clusters, Indexes, of_queries
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import ABOVE, BELOW, EFFECTIVE_AT_LEAST, QUERIES_AT_LEAST, TOO_FEW, UNDECIDED
from ragrelay.base.vocabulary.columns import REASON, REFERENCES, STUDY_PART, boolean, integer, number, schema_of, text
from ragrelay.base.vocabulary.names import NOT_RELAYED, UNSEEN

ALL_RANKINGS = "all rankings"
WITHOUT_P0 = "no zero-shot answers to adjust for"
ONE_SEED, NOISY = "one seed: the noise of the answers is not known", "reliability below 0.2"
RELIABLE_AT_LEAST = 0.2
"""If the reliability of P's differences is lower than this, r isn't corrected for it."""
DIFFERING_AT_LEAST, ADJUSTED_AT_LEAST = 12, 20
"""Minimum number of queries whose contexts differ, for a verdict on the unadjusted and on the adjusted slope."""
NEEDED = ", but {} are needed"
"""The end of a message about too few contexts that differ: how many are needed."""
FITTED = 3
"""Number of coefficients in an adjusted row's regression."""
UNIT = "P per unit of the measure"
TABLE = {
    "retrievers": text("pair of rankings, or `all rankings` in rows that combine all pairs"),
    "ordering": text("order of the passages in the prompt"),
    "k": integer("number of passages in the context; empty in rows that average over all k with equal "
                 "weights", "passages"),
    "references": REFERENCES,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "adjusted": boolean("whether the differences in P and in the measure are adjusted for two values: P₀, and the "
                        "query's mean value of the measure over the rankings"),
    "n": integer("number of queries whose contexts differ between the two rankings of at least one pair; pairs with "
                 "too few such queries are ignored, unless all pairs have too few", "queries"),
    "n_eff": number("effective number of queries: the number of equally weighted queries that would carry as much "
        "information as the `n` queries, each weighted by its share of the measure's sum of squares", "queries"),
    "share_same": number("share of queries for which both rankings lead to the same context, among queries with "
        "values of P and the measure for both; in rows for `all rankings`, computed over all pairs", "0 to 1"),
    "slope": number("slope of the regression of the difference in P on the difference in the measure, both centred "
                    "over the pair's queries; on unseen references, P − P₀ replaces P", UNIT),
    "low": number("lower end of the 95% interval", UNIT),
    "high": number("upper end of the 95% interval", UNIT),
    "p_value": number("two-sided p-value for the null hypothesis that the slope is 0, with queries as the unit of "
                      "analysis"),
    "r": number("correlation between the difference in P and the difference in the measure; unlike the slope, the "
        "correlation is smaller if the measure varies less", "−1 to 1"),
    "verdict": text("verdict on the slope: `above zero`, `below zero`, `undecided` or `too few queries`"),
    "reason": REASON,
    "reliability": number("reliability of the differences in P: the share of their sum of squares that isn't noise "
        "from seeds", "0 to 1"),
    "r_corrected": number("`r` corrected for the noise from seeds: `r` divided by the square root of "
                          "`reliability`", "−1 to 1"),
    "reason_corrected": text("why `r_corrected` is missing although `r` exists; otherwise empty"),
}  # fmt: skip
UNADJUSTED = {"n": 0, "n_eff": 0.0, "verdict": UNDECIDED, "reason": WITHOUT_P0}
"""The adjusted row if no query has P_0."""
WITHOUT_R = dict.fromkeys(("r", "reliability", "r_corrected", "reason_corrected"))
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE}
"""Columns of relay.csv."""
Flags = npt.NDArray[np.bool_]
Row = TypeVar("Row", bound=Mapping[str, Any])


class Cell(NamedTuple):
    """Data for R rankings and Q queries, for one ordering, k, reference set and measure; missing values are NaN."""

    context: Array
    """(R, Q): a number for each distinct list of docnos."""
    x: Array
    """(R, Q): the measure."""
    p: Array
    """(R, Q): P, or P - P_0 on unseen references."""
    mean_x: Array
    """(Q,): the query's mean measure over the rankings."""
    p0: Array
    """(Q,): the query's P_0 at the grade."""
    by_seed: Array | None = None
    """(S, R, Q): the values that ``p`` averages, if known."""
    cluster: Indexes | None = None
    """(Q,): each query's cluster number; None if queries are independent."""


class Sums(NamedTuple):
    """Sums over one or more pairs of rankings, for each query (Q,)."""

    differs: Flags
    """(Q,): whether the contexts differ."""
    products: Array
    """(3, Q): the sums of xx, xp and pp."""
    same: float
    """The number of equal pairs among the ``compared`` pairs of contexts."""
    compared: float
    known: Flags
    """(Q,): whether both P and both measures exist."""
    apart: Flags
    """(Q,): whether the contexts differ in any pair, used or not."""
    noise: float = np.nan
    """The part of the sum of pp that is due to variation between seeds; NaN if unknown."""
    cluster: Indexes | None = None
    """Each query's cluster number, as in Cell."""
    inflation: float = 1.0
    """Factor on the slope's variance that accounts for fitted coefficients: (n - 1) / (n - 3) if adjusted, where n is
    the number of a pair's queries, or clusters."""

    @property
    def units(self) -> str:
        """The units that the test treats as independent, ``queries`` or ``clusters of queries``."""
        return "queries" if self.cluster is None else "clusters of queries"

    @property
    def of_units(self) -> Array:
        """Sums of xx, xp and pp (3, units) for each query whose contexts differ, or for each cluster of queries."""
        products = self.products[:, self.differs]
        if self.cluster is None:
            return products
        clusters, of_query = np.unique(self.cluster[self.differs], return_inverse=True)
        return np.array([np.bincount(of_query, row, len(clusters)) for row in products])


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of relay.csv from the answers and rankings in ``given``."""
    rankings = given.rankings
    return relay(given.cells, given.measured, rankings.contexts, rankings.kinds, given.by_seed, given.clusters)


def relay(
    utility: pl.DataFrame,
    retrieval: pl.DataFrame,
    contexts: pl.DataFrame,
    kinds: Mapping[str, str],
    by_seed: pl.DataFrame | None = None,
    clusters: Clusters | None = None,
) -> pl.DataFrame:
    """Regress differences in P on differences in each measure, for each pair of rankings and over all pairs.

    ``utility`` has the columns utility.COLUMNS, ``retrieval`` has retriever, qid, measure, k and value, and
    ``contexts`` has retriever, ordering, k, qid and docnos (a query without a row has an empty context). ``kinds``
    gives each retriever's kind; all retrievers except oracle, graded, position and processed ones count as rankings.
    ``by_seed`` (see utility.scores_by_seed) has a score for each seed; P is the mean of these scores.

    A pair of rankings (A, B) has a row if at least 5 queries have P and the measure for both rankings, and different
    docnos in the two contexts. For each of these queries, x is the difference in the measure (A minus B), and p is the
    difference in P (on unseen references, in P - P_0). Both are centred. In ``adjusted`` rows, x and p are instead the
    residuals of a regression on an intercept, the query's mean measure over all rankings, and the query's P_0 (on all
    references at the grade). The slope is sum xp / sum xx, and r is sum xp / sqrt(sum xx sum pp). In rows for ``all
    rankings``, the sums also run over all pairs that have a row. If all contexts differ, this is equivalent to centring
    by query and by ranking. In rows without a k, the slope is the mean of the slopes at each k, and there is no r.

    The effective number of queries is n_eff = (sum xx)^2 / sum (xx)^2, where xx is summed per query. The p-value comes
    from a test of whether xp has mean 0 (see mean_tests; the skewness is multiplied by 1.75). The interval from ``low``
    to ``high`` contains each slope b for which the same test doesn't reject that xp - b xx has mean 0 (Fieller 1954).
    In ``adjusted`` rows, three coefficients are fitted, so the variance is multiplied by f = (n - 1) / (n - 3), and
    Student's t has (n - 1) / f degrees of freedom. For several pairs, f is the mean of the pairs' factors, weighted by
    sum xx. The verdict is based on the interval. The verdict is ``too few queries``, with a ``reason``, if the interval
    is unbounded, n_eff is below 6, n is below 12 or, in ``adjusted`` rows, there are fewer degrees of freedom than with
    20 queries. If queries form ``clusters``, clusters replace queries in n_eff, tests, intervals and minimum counts.

    ``r_corrected`` is r, corrected for the variation between seeds (Spearman 1904). It equals r / sqrt(reliability),
    where reliability = 1 - noise / sum pp. A query's noise is the variance over seeds of the score difference between A
    and B, divided by the number of seeds, and multiplied by 1 - h, where h is the query's leverage in the regression.
    For queries with fewer than two seeds, the other queries' mean variance is used. The slope needs no such correction.
    """
    rows = [
        names | row
        for names, cells in cells_of(utility, retrieval, contexts, kinds, by_seed, clusters)
        for row in _rows(cells, [name for name in kinds if kinds[name] not in NOT_RELAYED])
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def places(utility: pl.DataFrame, kinds: Mapping[str, str]) -> tuple[list[str], pl.Series]:
    """Return the rankings' names (a Cell's R rows), and the qids with answers (a Cell's Q columns)."""
    rankings = [name for name, kind in kinds.items() if kind not in NOT_RELAYED]
    return rankings, utility.filter(pl.col("retriever").is_in(rankings))["qid"].unique().sort()


def cells_of(
    utility: pl.DataFrame,
    retrieval: pl.DataFrame,
    contexts: pl.DataFrame,
    kinds: Mapping[str, str],
    by_seed: pl.DataFrame | None = None,
    clusters: Clusters | None = None,
) -> Iterator[tuple[dict[str, object], dict[int, Cell]]]:
    """Yield each combination of references, measure and ordering with its cells, keyed by k."""
    rankings, qids = places(utility, kinds)
    utility, retrieval = (table.filter(pl.col("retriever").is_in(rankings)) for table in (utility, retrieval))
    known = retrieval.filter(pl.col("value").is_not_nan())
    grades = utility.filter(pl.col("p0").is_not_null()).group_by("references", "qid").agg(pl.col("p0").first())
    joined = (
        utility.with_columns(
            grade=pl.col("references").str.strip_suffix(UNSEEN),
            answer=pl.when(pl.col("references").str.ends_with(UNSEEN)).then(pl.col("p") - pl.col("p0")).otherwise("p"),
        )
        .drop("p0")
        .join(known.select("retriever", "measure", "k", "qid", "value"), on=["retriever", "k", "qid"])
        .join(known.group_by("measure", "k", "qid").agg(mean_x=pl.col("value").mean()), on=["measure", "k", "qid"])
        .join(grades.rename({"references": "grade"}), on=["grade", "qid"], how="left")
        .join(contexts.with_columns(context=pl.col("docnos").list.join("\n").rank("dense")).drop("docnos"),
              on=["retriever", "ordering", "k", "qid"], how="left")
        .join(pl.DataFrame({"qid": qids}).with_row_index("query"), on="qid")
        .join(pl.DataFrame({"retriever": rankings}, schema={"retriever": pl.String}).with_row_index("ranking"),
              on="retriever")
        .with_columns(pl.col("context").cast(pl.Float64).fill_null(0.0))
        .sort("references", "measure", "ordering", "k", "ranking", "query")
    )  # fmt: skip
    seeds = {} if by_seed is None else _by_seed(by_seed, rankings, qids)
    cluster = of_queries(qids, clusters)
    by_names: dict[tuple[str, ...], dict[int, Cell]] = {}
    columns = ["ranking", "query", "context", "value", "answer", "mean_x", "p0"]
    for (*names, k), numbers in by_cell(joined, ["references", "measure", "ordering", "k"], columns):
        ranking, query = numbers[:2].astype(np.intp)
        laid = np.full((5, len(rankings), len(qids)), np.nan)
        laid[:, ranking, query] = numbers[2:]
        with np.errstate(invalid="ignore"):
            of_query = np.fmax.reduce(laid[3:], axis=1)
        by_names.setdefault(tuple(names), {})[k] = Cell(*laid[:3], *of_query)._replace(
            by_seed=seeds.get((names[0], names[2], k)), cluster=cluster
        )
    for (references, measure, ordering), cells in by_names.items():
        yield {"references": references, "measure": measure, "ordering": ordering}, cells


def _by_seed(by_seed: pl.DataFrame, rankings: Sequence[str], qids: pl.Series) -> dict[tuple[str, str, int], Array]:
    """Return scores (seeds, rankings, queries) by references, ordering and k; NaN where there is none."""
    seeds = by_seed.select(pl.col("seed").unique().sort()).with_row_index("place")
    placed = (
        by_seed.drop_nulls("answer")
        .join(seeds, on="seed")
        .join(pl.DataFrame({"retriever": rankings}, schema={"retriever": pl.String}).with_row_index("ranking"),
              on="retriever")
        .join(pl.DataFrame({"qid": qids}).with_row_index("query"), on="qid")
        .sort("references", "ordering", "k")
    )  # fmt: skip
    arrays = {}
    keys = ["references", "ordering", "k"]
    for (references, ordering, k), numbers in by_cell(placed, keys, ["place", "ranking", "query", "answer"]):
        laid = np.full((len(seeds), len(rankings), len(qids)), np.nan)
        laid[tuple(numbers[:3].astype(np.intp))] = numbers[3]
        arrays[references, ordering, k] = laid
    return arrays


def _rows(cells: Mapping[int, Cell], rankings: Sequence[str]) -> Iterator[dict[str, object]]:
    if len(rankings) < 2:
        return
    pooled: dict[bool, list[Sums]] = {False: [], True: []}
    for k, cell in cells.items():
        for adjusted in pooled:
            if adjusted and not np.isfinite(cell.p0).any():
                yield {"retrievers": ALL_RANKINGS, "k": k, "adjusted": adjusted} | UNADJUSTED
                continue
            of_pairs = dict(pair_sums(cell, adjusted))
            for pair, sums in of_pairs.items():
                if sums.differs.sum() >= QUERIES_AT_LEAST:
                    names = {"retrievers": ", ".join(rankings[place] for place in pair), "k": k, "adjusted": adjusted}
                    yield names | slope(sums)
            pooled[adjusted].append(all_pairs(of_pairs.values()))
            yield {"retrievers": ALL_RANKINGS, "k": k, "adjusted": adjusted} | slope(pooled[adjusted][-1])
    if len(cells) > 1:
        for adjusted, of_k in ((adjusted, of_k) for adjusted, of_k in pooled.items() if of_k):
            yield {"retrievers": ALL_RANKINGS, "k": None, "adjusted": adjusted} | slope(same_weight(of_k)) | WITHOUT_R


class RankingPair(NamedTuple):
    """Indexes of two rankings, and the n queries whose contexts differ and that have P and the measure for both."""

    first: int
    second: int
    differs: Flags
    """(Q,): the n queries."""
    known: Flags
    """(Q,): queries with both P and both measures, whether their contexts differ or not."""
    design: Array | None
    """(n, d); None with fewer than 5 queries."""
    residuals: Array | None
    """(n, 2): residuals of x and p; None with fewer than 5 queries."""


def pairs(cell: Cell, adjusted: bool) -> Iterator[RankingPair]:
    """Yield each pair of rankings in ``cell``, with the residuals of x and p."""
    for first, second in itertools.combinations(range(len(cell.x)), 2):
        x, p = cell.x[first] - cell.x[second], cell.p[first] - cell.p[second]
        known = np.isfinite(x) & np.isfinite(p)
        if adjusted:
            known &= np.isfinite(cell.p0)
        differs = known & (cell.context[first] != cell.context[second])
        design = residuals = None
        n = int(differs.sum())
        if n >= QUERIES_AT_LEAST:
            design = np.column_stack([np.ones(n), cell.mean_x[differs], cell.p0[differs]][: 3 if adjusted else 1])
            residuals = np.column_stack([x[differs], p[differs]])
            residuals -= design @ np.linalg.lstsq(design, residuals, rcond=ROUNDING)[0]
            # A column that the regression explains fully leaves only rounding errors.
            residuals[:, np.abs(residuals).max(axis=0) < ROUNDING] = 0.0
        yield RankingPair(first, second, differs, known, design, residuals)


def pair_sums(cell: Cell, adjusted: bool) -> Iterator[tuple[tuple[int, int], Sums]]:
    """Yield each pair of rankings (indexes) and the pair's sums (0 if fewer than 5 queries have different contexts)."""
    for first, second, differs, known, design, residuals in pairs(cell, adjusted):
        sums, noise, compared = np.zeros((3, len(differs))), np.nan, int(known.sum())
        if design is not None and residuals is not None:
            x, p = residuals.T
            sums[:, differs] = x**2, x * p, p**2
            if cell.by_seed is not None:
                noise = seed_noise(cell.by_seed[:, first, differs] - cell.by_seed[:, second, differs], design)
        same, inflation = compared - int(differs.sum()), _inflation(differs, cell.cluster) if adjusted else 1.0
        yield (first, second), Sums(differs, sums, same, compared, known, differs, noise, cell.cluster, inflation)


def _inflation(differs: Flags, cluster: Indexes | None) -> float:
    """Return ``inflation`` of Sums for an adjusted pair."""
    n = int(differs.sum()) if cluster is None else len(np.unique(cluster[differs]))
    return (n - 1) / (n - FITTED) if n > FITTED else float(FITTED)


def seed_noise(by_seed: Array, design: Array) -> float:
    """Estimate how much variation between seeds adds to a residual sum of squares, or NaN if no query has two seeds.

    These residuals come from regressing the mean over seeds of ``by_seed`` (S, n) on ``design`` (n, d).
    """
    known = np.isfinite(by_seed)
    seeds = known.sum(axis=0)
    several = seeds > 1
    if not several.any():
        return np.nan
    variance = np.full(len(seeds), np.nan)
    variance[several] = np.nanvar(by_seed[:, several], axis=0, ddof=1)
    variance[~several] = variance[several].mean()
    leverage = np.einsum("nd,dn->n", design, np.linalg.pinv(design, rcond=ROUNDING))
    return float((variance / np.maximum(seeds, 1) * (1.0 - leverage)).sum())


def all_pairs(pairs: Iterable[Sums]) -> Sums:
    """Sum ``pairs`` for each query, leaving out pairs in which fewer than 5 queries have different contexts.

    There must be at least one pair. ``same``, ``compared``, ``known`` and ``apart`` include all pairs.
    """
    pairs = list(pairs)
    used = [pair for pair in pairs if pair.differs.sum() >= QUERIES_AT_LEAST]
    xx = [pair.products[0].sum() for pair in used]
    return Sums(
        np.any([np.zeros_like(pairs[0].differs), *(pair.differs for pair in used)], axis=0),
        np.sum([np.zeros_like(pairs[0].products), *(pair.products for pair in used)], axis=0),
        sum(pair.same for pair in pairs),
        sum(pair.compared for pair in pairs),
        np.any([pair.known for pair in pairs], axis=0),
        np.any([pair.apart for pair in pairs], axis=0),
        sum(pair.noise for pair in used),
        pairs[0].cluster,
        float(np.average([pair.inflation for pair in used], weights=xx if any(xx) else None)) if used else 1.0,
    )


def same_weight(of_k: Sequence[Sums]) -> Sums:
    """Combine the sums for several k so that the resulting slope is the mean of the slopes for each k.

    The products for each k are divided by the sum of xx at that k; a k at which the measure never differs is left out.
    """
    varied = [sums for sums in of_k if sums.products[0].sum() > 0]
    weighed = [sums.products / sums.products[0].sum() for sums in varied]
    return Sums(
        np.any([sums.differs for sums in of_k], axis=0),
        np.sum([np.zeros_like(of_k[0].products), *weighed], axis=0),
        sum(sums.same for sums in of_k),
        sum(sums.compared for sums in of_k),
        np.any([sums.known for sums in of_k], axis=0),
        np.any([sums.apart for sums in of_k], axis=0),
        cluster=of_k[0].cluster,
        inflation=float(np.mean([sums.inflation for sums in varied or of_k])),
    )


def slope(sums: Sums, level: float = 0.95, least: int = DIFFERING_AT_LEAST) -> dict[str, object]:
    """Compute the columns of ``TABLE`` from ``n`` onwards; a verdict requires at least ``least`` queries."""
    xx, xp, pp = sums.products[:, sums.differs]
    n = len(xx)
    row: dict[str, Any] = {"n": n or int(sums.apart.sum()), "n_eff": 0.0, "verdict": TOO_FEW}
    if sums.compared:
        row["share_same"] = sums.same / sums.compared
    if n < QUERIES_AT_LEAST:
        few = NEEDED.format(least) if row["n"] < least else f", but no pair of rankings has {QUERIES_AT_LEAST}"
        return row | {"reason": f"{_differing(row['n'], sums)}{few}"}
    equal = "fully explained by the adjustment" if sums.inflation > 1.0 else "the same for all queries"
    if not xx.sum() > 0:
        return row | {"reason": f"the differences in the measure are {equal}"}
    row["slope"] = float(xp.sum() / xx.sum())
    row["r"] = float(np.clip(xp.sum() / np.sqrt(xx.sum() * pp.sum()), -1.0, 1.0)) if pp.sum() > 0 else None
    row |= _corrected(row["r"], 1.0 - sums.noise / float(pp.sum())) if row["r"] is not None else {}
    xx, xp, _ = sums.of_units
    row["n_eff"] = float(xx.sum() ** 2 / (xx**2).sum())
    if row["r"] is None:
        return row | {"verdict": UNDECIDED, "reason": f"the differences in P are {equal}"}
    if len(xx) < QUERIES_AT_LEAST:
        return row | {"reason": _differing(len(xx), sums) + NEEDED.format(least)}
    if is_constant(xp - row["slope"] * xx):
        return row | {"verdict": UNDECIDED, "reason": "the slope is perfect, so it has no sampling variance"}
    degrees = (len(xx) - 1) / sums.inflation
    ends = mean_tests.ratio_interval(
        xp, xx, skewness=mean_tests.SKEWNESS, degrees=degrees, level=level, inflation=sums.inflation
    )
    if not is_constant(xp):
        row["p_value"] = float(_means(xp, sums.inflation).p_value()[0])
    if ends is not None:
        row |= {"low": ends[0], "high": ends[1]}
    reason = _too_few(len(xx), least, row["n_eff"], degrees, ends is None, sums)
    if reason or ends is None:
        return row | {"reason": reason}
    return row | {"verdict": ABOVE if ends[0] > 0 else BELOW if ends[1] < 0 else UNDECIDED}


def _corrected(r: float, reliability: float) -> dict[str, Any]:
    if not np.isfinite(reliability):
        return {"reason_corrected": ONE_SEED}
    row = {"reliability": float(np.clip(reliability, 0.0, 1.0))}
    if reliability < RELIABLE_AT_LEAST:
        return row | {"reason_corrected": NOISY}
    return row | {"r_corrected": float(np.clip(r / np.sqrt(reliability), -1.0, 1.0))}


def _means(products: Array, inflation: float) -> mean_tests.Means:
    """Return the moments of xp (units,) for its test, with the variance multiplied by ``inflation``."""
    means = mean_tests.Means.cautious(products[:, None])
    return means._replace(deviation=means.deviation * np.sqrt(inflation), degrees=np.array([(means.n - 1) / inflation]))


def _too_few(n: int, least: int, n_eff: float, degrees: float, unbounded: bool, sums: Sums) -> str | None:
    adjusted, needed = sums.inflation > 1.0, ADJUSTED_AT_LEAST - FITTED
    least = max(least, ADJUSTED_AT_LEAST) if adjusted else least
    if n < least:
        return _differing(n, sums) + NEEDED.format(least)
    if adjusted and degrees < needed - ROUNDING:
        return f"after adjusting each pair, {degrees:.1f} degrees of freedom remain, but {needed} are needed"
    if n_eff < EFFECTIVE_AT_LEAST:
        return f"{n_eff:.1f} effective {sums.units}, but {EFFECTIVE_AT_LEAST:.0f} are needed"
    return "the interval is unbounded" if unbounded else None


def _differing(n: int, sums: Sums) -> str:
    """Describe how many of the queries, or of their clusters, have contexts that differ."""
    known = int(sums.known.sum()) if sums.cluster is None else len(np.unique(sums.cluster[sums.known]))
    if not known:
        return "no query has P and the measure for two rankings"
    one = "query" if sums.cluster is None else "cluster of queries"
    every = {1: f"only 1 {one}", 2: f"both {sums.units}"}.get(n, f"all {n} {sums.units}")
    some = every if n == known else f"{n} of {known} {sums.units}"
    return f"{some} ha{'s' if n == 1 else 've'} contexts that differ"


REVERSED = 0.01
"""A negative slope is unexpected, and only accepted if its p-values are below this."""
IT_IS, IT_IS_NOT, NOT_KNOWN, ONE_RANKING = "it is", "it is not", "not known", "needs two rankings"


def answer(table: pl.DataFrame, ordering: str, k: int, references: str, measure: str) -> str:
    """Return the conclusion on relay for one cell, based on the cell's rows for all rankings in ``table``.

    ``it is`` means that both slopes (unadjusted and adjusted) are above zero. ``it is not`` means that both slopes are
    below zero with p-values below REVERSED, which is rare if answers are shuffled among queries (docs/methods.md).
    ``too few queries`` means that either row has this verdict, and ``needs two rankings`` means that there is no row.
    Otherwise, the conclusion is ``not known``.
    """
    rows = table.filter(retrievers=ALL_RANKINGS, ordering=ordering, k=k, references=references, measure=measure)
    return answer_of(rows) if rows.height else ONE_RANKING


def answer_of(rows: pl.DataFrame) -> str:
    """Return the conclusion on relay from a cell's two rows (unadjusted slope, adjusted slope)."""
    verdicts = set(rows["verdict"])
    if TOO_FEW in verdicts:
        return TOO_FEW
    if rows.height < len((False, True)):
        return NOT_KNOWN
    if verdicts == {ABOVE}:
        return IT_IS
    return IT_IS_NOT if verdicts == {BELOW} and (rows["p_value"] < REVERSED).all() else NOT_KNOWN


def why_no_answer(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    """Return the rows that determine a cell's conclusion on relay (see ``deciding``), each paired with its reason."""
    both = all(row["reason"] != WITHOUT_P0 for row in rows)
    own, needed = map(NEEDED.format, (DIFFERING_AT_LEAST, ADJUSTED_AT_LEAST if both else DIFFERING_AT_LEAST))
    return [(row, (row["reason"] or "").replace(own, needed)) for row in deciding(rows)]


def deciding(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that determine a cell's conclusion on relay (see ``answer_of``).

    Returns the first of these groups that isn't empty: rows with too few queries; undecided rows; rows whose p-value
    isn't below REVERSED (if both slopes are below zero); all rows.
    """
    doubtful = [row for row in rows if row["verdict"] == BELOW and not row["p_value"] < REVERSED]
    for some in ([row for row in rows if row["verdict"] == word] for word in (TOO_FEW, UNDECIDED)):
        if some:
            return some
    return doubtful if all(row["verdict"] == BELOW for row in rows) and doubtful else list(rows)
