"""Correlate utility with retrieval quality across queries: relevance transmission (Tian et al., ECIR 2025, eq. 3)."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import optimize, special, stats

from ragrelay.analysis import bootstrap, multiplicity, paired_tests
from ragrelay.analysis.bootstrap import METHOD, Interval, bootstrap_intervals
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.clusters import CLUSTER, Clusters, Indexes, cluster_column, effective_number, indexes
from ragrelay.analysis.coefficients import ROUNDING, Array, concordances
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.paired_tests import POWER
from ragrelay.analysis.transmission import Transmission
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW, UNDECIDED, WORDS_AT_LEAST, few_pairs, of_correlation
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST as CLUSTERS_AT_LEAST
from ragrelay.base.vocabulary.columns import (
    CELL_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    RESAMPLES,
    STUDY_PART,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)

LOW_P0 = 0.1
# Subset of the queries → its lowest P_0; "all" includes queries without a P_0.
SUBSETS = {"all": None, f"p0>={LOW_P0}": LOW_P0}
TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
# Rank coefficients take longer per resample, but their intervals need fewer resamples.
RESAMPLES_AT_MOST = {"spearman": 2_000, "kendall": 1_000}
# With more queries than this, rank coefficients get large-sample intervals.
RANKS_BOOTSTRAPPED_AT_MOST = 1_000
QUERIES_AT_LEAST = 4
FAMILY = ("coefficient", "references", "measure", "subset")
P_VALUES = {"p_value": "p", "p_permutation": "p_permutation"}
CELLS = ("retriever", "ordering")
# The coefficient that has a verdict: its intervals keep their coverage even on skewed columns.
DECIDES = "spearman"
# Scores are of the order of 1, so a smaller variation is only due to rounding.
CONSTANT = 1e-12
TABLE = {
    **CELL_COLUMNS,
    "measure": text("name of the retrieval measure, which is computed at k"),
    "subset": text("queries in the row: `all`, or only queries with a P₀ of at least 0.1"),
    "coefficient": text("correlation coefficient: `pearson` (r), `spearman` (rho) or `kendall` (tau-b)"),
    "value": number("correlation between the measure and utility, over queries", "−1 to 1"),
    **INTERVAL,
    "n": integer("number of queries with values for both correlated quantities", "queries"),
    "n_null": integer("number of queries excluded because their utility is missing", "queries"),
    "n_unmeasured": integer("number of queries excluded because the measure has no value", "queries"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the coefficient is 0; `method` "
        "describes the interval, not this p-value"),
    "p_permutation": number("uncorrected two-sided p-value of the studentised permutation test, on which the verdict "
        "is based"),
    "verdict": text("verdict on the sign of rho (in `correlation.csv`, after Holm's correction): `above zero`, `below "
        "zero`, `undecided` or `too few queries`; empty for r and tau-b"),
    "detectable": number("smallest |r| or |rho| that can be detected with n queries at α = .05 and 80% power, by the "
                         "t-test (r) or by the test behind the verdict before Holm's correction (rho)"),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
    "remark": text("why there are too few queries for a verdict, or why the verdict is undecided although p < 0.05 "
        "(Holm's correction, or an interval that includes 0); otherwise empty"),
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted(P_VALUES)}
"""Columns of correlation.csv."""
SPEARMAN_METHOD = "Fisher z, Bonett-Wright variance"
METHOD_OF_CLUSTERS = "jackknife over clusters of queries on Fisher's z, Student's t"
KENDALL_METHOD = "Fisher z, asymptotic variance"

# With more queries than this, the statistic is compared with Student's t; permutations would give the same result.
PERMUTED_AT_MOST = 200
# Permutations at a time: few enough to fit in the processor's cache.
ORDERS = 500
# detectable_rho subtracts this from n, to match simulated verdicts.
COST = 5.5
TRANSFORMS = {"pearson": lambda columns: columns, "spearman": lambda columns: stats.rankdata(columns, axis=-1)}


@dataclass(frozen=True)
class PairedColumns:
    """A cell's utility and measure for the same n queries, and the reason why they can't be correlated, if any."""

    names: dict[str, Any]
    utility: Array
    measure: Array
    reason: str | None
    cluster: Indexes | None = None
    """(n,): each query's cluster number; None if queries are independent."""

    @property
    def digest(self) -> bytes:
        """A hash of the data, equal for cells with equal data."""
        parts = [self.utility, self.measure, *([] if self.cluster is None else [self.cluster])]
        return hashlib.sha256(b"/".join(part.tobytes() for part in parts)).digest()


def table(given: Transmission) -> pl.DataFrame:
    """Compute the rows of correlation.csv from the answers and rankings in ``given``."""
    parts = (
        transmission(*of_retriever, given.resamples, given.seed, given.clusters)
        for of_retriever in given.each_retriever()
    )
    return corrected(with_adjusted(pl.concat(parts)))


def is_constant(column: Array) -> bool:
    """Return whether all values in a column are equal up to rounding."""
    return bool(np.ptp(column) <= CONSTANT * max(1.0, float(np.abs(column).max())))


def transmission(
    utility: pl.DataFrame, retrieval: pl.DataFrame, resamples: int, seed: int, clusters: Clusters | None = None
) -> pl.DataFrame:
    """Correlate one retriever's utility with each measure, and return one row (``SCHEMA``) per cell and coefficient.

    ``utility`` has the columns of the utility table; ``retrieval`` has qid, measure, k and value. A cell is a
    combination of ordering, k, references, measure and subset. Utility and measure are joined by qid at the same k.
    Only rho has a ``verdict``, because no interval for r keeps nominal coverage on skewed columns (docs/methods.md).
    The verdict is above or below zero if the studentised permutation test rejects at 5% and the interval excludes 0.
    With too few queries or too many ties (verdicts.few_pairs), the verdict is ``too few queries``, with a ``remark``.

    If queries form ``clusters``, each coefficient is tested on Fisher's z, using a jackknife over clusters and
    Student's t with n_eff - 1 degrees of freedom, where n_eff is the effective number of clusters. The minimum number
    of queries for a verdict then applies to the number of clusters, and p_permutation and ``detectable`` are null.
    """
    return pl.DataFrame(correlate(_cells(utility, retrieval, clusters), resamples, seed), schema=SCHEMA)


def correlate(cells: Iterable[PairedColumns], resamples: int, seed: int) -> list[dict[str, object]]:
    """Compute one row (``SCHEMA``) per cell and coefficient: the cell's identifying columns and the test results."""
    cells = list(cells)
    results: dict[tuple[bytes, str], dict[str, object]] = {}
    distinct = {cell.digest: cell for cell in cells if cell.reason is None}
    for coefficient in TESTS:
        for cell in distinct.values():
            if cell.cluster is not None:
                results[cell.digest, coefficient] = _of_clusters(coefficient, cell, cell.cluster)
        by_n: dict[int, list[PairedColumns]] = defaultdict(list)
        for cell in distinct.values():
            if cell.cluster is None:
                by_n[len(cell.utility)].append(cell)
        for same_n in by_n.values():
            rows = _coefficients(coefficient, same_n, resamples, seed)
            results.update({(cell.digest, coefficient): row for cell, row in zip(same_n, rows, strict=True)})
    return [
        cell.names
        | {"coefficient": coefficient}
        | ({"reason": cell.reason} if cell.reason else results[cell.digest, coefficient])
        for cell in cells
        for coefficient in TESTS
    ]


def _of_clusters(coefficient: str, cell: PairedColumns, cluster: Indexes) -> dict[str, object]:
    """Compute a coefficient's row if the queries form clusters."""
    value, sizes = _tests(coefficient, [cell])[0][0], np.unique(cluster, return_counts=True)[1]
    row: dict[str, object] = {"value": value} | _verdict(coefficient, cell, None, None, 1.0)
    if len(sizes) < CLUSTERS_AT_LEAST:
        return row | {"reason": f"fewer than {CLUSTERS_AT_LEAST} clusters of queries"}
    left_out = bootstrap.without_each(coefficient, cell.utility, cell.measure, cluster)
    tested = bootstrap.fisher_jackknife(value, left_out, effective_number(sizes) - 1)
    if tested.p_value is None:
        return row | {"reason": "without one of the clusters, the correlation is undefined or perfect"}
    row |= tested._asdict() | {"method": METHOD_OF_CLUSTERS}
    return row | _verdict(coefficient, cell, tested.low, tested.high, tested.p_value)


def _verdict(
    coefficient: str, cell: PairedColumns, low: float | None, high: float | None, p_value: float | None
) -> dict[str, object]:
    """Return the verdict and its remark; empty for a coefficient without verdicts."""
    if coefficient != DECIDES or p_value is None:
        return {}
    sizes = None if cell.cluster is None else np.unique(cell.cluster, return_counts=True)[1]
    clusters, effective = (None, np.inf) if sizes is None else (len(sizes), effective_number(sizes))
    few = few_pairs(cell.utility, cell.measure, _names(cell), clusters, effective)
    return {"verdict": TOO_FEW if few else of_correlation(low, high, p_value), "remark": few}


def _names(cell: PairedColumns) -> tuple[str, str]:
    return cell.names.get("quantity", "utility"), cell.names.get("measure", "value")


def _cells(utility: pl.DataFrame, retrieval: pl.DataFrame, clusters: Clusters | None = None) -> Iterator[PairedColumns]:
    keys = ["retriever", "ordering", "k", "references", "measure"]
    known = retrieval.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    joined = (
        utility.join(retrieval.select("measure").unique(), how="cross")
        .join(known.select("measure", "k", "qid", "value"), on=["measure", "k", "qid"], how="left")
        .with_columns(cluster_column(clusters))
        .sort(*keys, "qid")
    )
    for key, (p0, x, y, numbers) in by_cell(joined, keys, ["p0", "utility", "value", CLUSTER]):
        names: dict[str, Any] = dict(zip(keys, key, strict=True))
        useful, measured = np.isfinite(x), np.isfinite(y)
        for subset, least in SUBSETS.items():
            chosen = np.full(len(p0), True) if least is None else p0 >= least
            pairs = chosen & useful & measured
            counts = {
                "subset": subset,
                "n": int(pairs.sum()),
                "n_null": int((chosen & ~useful).sum()),
                "n_unmeasured": int((chosen & useful & ~measured).sum()),
            }
            reason = no_coefficient(x[pairs], y[pairs], names["measure"])
            yield PairedColumns(names | counts, x[pairs], y[pairs], reason, indexes(numbers[pairs]))


def no_coefficient(utility: Array, measure: Array, name: str, quantity: str = "utility") -> str | None:
    """Return why two columns (n,) can't be correlated, or None if they can; ``name`` is the measure's name."""
    if len(utility) < QUERIES_AT_LEAST:
        return f"fewer than {QUERIES_AT_LEAST} queries"
    if is_constant(utility):
        return f"{quantity} is constant"
    return f"{name} is constant" if is_constant(measure) else None


def with_adjusted(correlations: pl.DataFrame) -> pl.DataFrame:
    """Add each test's family (coefficient × references × measure × subset), the family's size and adjusted p-values."""
    return multiplicity.with_adjusted(correlations, FAMILY, P_VALUES, CELLS)


def corrected(correlations: pl.DataFrame) -> pl.DataFrame:
    """Make each verdict undecided if its Holm-adjusted p-value is 5% or more, and add a remark.

    The page then only shows verdicts that hold after the correction. If the test still rejects after the correction but
    the interval includes 0, a remark says so.
    """
    p_value, holm = pl.coalesce("p_permutation", "p_value"), pl.coalesce("p_permutation_holm", "p_holm")
    undone = pl.col("verdict").is_in([ABOVE, BELOW]) & (holm >= ALPHA)
    said = pl.format("p = {} before and {} after Holm’s correction", *(p.round_sig_figs(2) for p in (p_value, holm)))
    unlike = (pl.col("verdict") == UNDECIDED) & (holm < ALPHA) & pl.col("low").is_not_null()
    includes = pl.format("p = {} after Holm’s correction, but the interval includes 0", holm.round_sig_figs(2))
    return correlations.with_columns(
        verdict=pl.when(undone).then(pl.lit(UNDECIDED)).otherwise("verdict"),
        remark=pl.when(undone).then(said).when(unlike).then(includes).otherwise("remark"),
    )


def _coefficients(
    coefficient: str, cells: Sequence[PairedColumns], resamples: int, seed: int
) -> list[dict[str, object]]:
    """Compute value, interval and p-value of ``coefficient`` for cells with equal n."""
    n = len(cells[0].utility)
    tests = _tests(coefficient, cells)
    drawn: int | None = None
    intervals: list[Interval]
    permuted: Sequence[float | None] = [None] * len(cells)
    if coefficient in TRANSFORMS:
        pairs = [(cell.utility, cell.measure) for cell in cells]
        permuted = list(map(float, permutation_p(coefficient, pairs, resamples, seed)))
    if coefficient == "pearson" or n <= RANKS_BOOTSTRAPPED_AT_MOST:
        drawn, method = min(resamples, RESAMPLES_AT_MOST.get(coefficient, resamples)), METHOD
        pairs, names = [(cell.utility, cell.measure) for cell in cells], [_names(cell) for cell in cells]
        intervals = bootstrap_intervals(coefficient, pairs, drawn, seed, names=names)
    elif coefficient == "spearman":
        method = SPEARMAN_METHOD
        intervals = [spearman_interval(value, n) for value, _ in tests]
    else:
        method = KENDALL_METHOD
        intervals = [
            kendall_interval(value, cell.utility, cell.measure) for cell, (value, _) in zip(cells, tests, strict=True)
        ]
    return [
        {
            "value": value,
            "low": interval.low,
            "high": interval.high,
            "p_value": p_value,
            "p_permutation": p_permutation,
            "detectable": DETECTABLE[coefficient](n) if coefficient in DETECTABLE else None,
            "method": method,
            "resamples": drawn,
            "reason": interval.reason,
        }
        | _verdict(coefficient, cell, interval.low, interval.high, p_permutation)
        for cell, (value, p_value), interval, p_permutation in zip(cells, tests, intervals, permuted, strict=True)
    ]


def _tests(coefficient: str, cells: Sequence[PairedColumns]) -> list[tuple[float, float]]:
    """Compute the value and p-value for each of ``cells``, with equal n. Only scipy's r takes all cells in one call."""
    if coefficient == "pearson":
        utility, measure = (np.array([getattr(cell, name) for cell in cells]) for name in ("utility", "measure"))
        results = stats.pearsonr(utility, measure, axis=1)
        return list(zip(results.statistic.tolist(), results.pvalue.tolist(), strict=True))
    tests = [TESTS[coefficient](cell.utility, cell.measure) for cell in cells]
    return [(float(test.statistic), float(test.pvalue)) for test in tests]


def spearman_interval(rho: float, n: int, level: float = 0.95) -> Interval:
    """Compute an interval for Spearman's rho on Fisher's z, with the variance (1 + rho^2 / 2) / (n - 3).

    See Bonett and Wright 2000, Psychometrika 65.
    """
    if 1.0 - abs(rho) < ROUNDING:
        return Interval(None, None, "the correlation is perfect, so it has no sampling variance")
    return _fisher_interval(rho, float(np.sqrt((1.0 + rho**2 / 2.0) / (n - 3))), level)


def kendall_interval(tau: float, x: Array, y: Array, level: float = 0.95) -> Interval:
    """Compute an interval for Kendall's tau-b of ``x`` and ``y`` (n,) on Fisher's z, with the asymptotic variance.

    tau-b = A / sqrt(B C), where A is the concordance and B and C are the shares of pairs untied in x and in y; all
    three are U-statistics. The variance of tau-b is computed by the delta method from the queries' contributions to A,
    B and C (Hoeffding 1948). With many ties, a variance based on n alone is too small.
    """
    if 1.0 - abs(tau) < ROUNDING:
        return Interval(None, None, "the correlation is perfect, so it has no sampling variance")
    n = len(x)
    x_ranks, y_ranks = (stats.rankdata(column, method="dense") - 1 for column in (x, y))
    concordance = concordances(x_ranks, y_ranks)
    x_untied, y_untied = (n - np.bincount(ranks)[ranks] for ranks in (x_ranks, y_ranks))
    parts = concordance / np.sqrt(x_untied.mean() * y_untied.mean())
    parts -= tau / 2.0 * (x_untied / x_untied.mean() + y_untied / y_untied.mean())
    error = 2.0 * np.sqrt((parts**2).mean() / n)
    return _fisher_interval(tau, float(error) / (1.0 - tau**2), level)


def _fisher_interval(value: float, error: float, level: float) -> Interval:
    """Return tanh(atanh(value) -+ quantile * error), where ``error`` is the standard error on Fisher's z."""
    centre = np.arctanh(value)
    reach = stats.norm.ppf((1.0 + level) / 2) * error
    return Interval(float(np.tanh(centre - reach)), float(np.tanh(centre + reach)))


def permutation_p(
    coefficient: str, pairs: Sequence[tuple[Array, Array]], permutations: int, seed: int
) -> npt.NDArray[np.float64]:
    """Test whether ``coefficient`` (pearson or spearman) is 0, and return a p-value for each pair of columns (n,).

    The statistic is sqrt(n) r / tau. With x and y centred, tau^2 is the mean of x^2 y^2, divided by the product of the
    means of x^2 and y^2. If the true correlation is 0, r has the variance tau^2 / n, whether or not the columns are
    independent. One column is permuted ``permutations`` times, in the same way for equal n and ``seed``; the observed
    order counts as another permutation. The test is exact for independent columns and asymptotically valid for
    uncorrelated ones. Permuting r itself is only valid for independent columns (DiCiccio and Romano 2017, Journal of
    the American Statistical Association 112; for ranks, Yu and Hutson 2022). For more than 200 queries, the statistic
    is compared with Student's t on n - 2 degrees of freedom.
    """
    x, y = _standardised(TRANSFORMS[coefficient](np.array(pairs).swapaxes(0, 1)))
    observed, n = _sizes((x * y).sum(axis=1), ((x * y) ** 2).sum(axis=1)), x.shape[1]
    if n > PERMUTED_AT_MOST:
        return np.asarray(2.0 * special.stdtr(n - 2, -observed), dtype=np.float64)
    # Many pairs share a measure, so its permutations serve all of them.
    measures, of_pair = np.unique(y, axis=0, return_inverse=True)
    sharing = [np.flatnonzero(of_pair == place) for place in range(len(measures))]
    orders, extreme = _orders(n, permutations, seed), np.zeros(len(pairs))
    for start in range(0, permutations, ORDERS):
        for measure, places in zip(measures, sharing, strict=True):
            permuted = measure[orders[start : start + ORDERS]]
            sizes = _sizes(permuted @ x[places].T, permuted**2 @ x[places].T ** 2)
            extreme[places] += np.count_nonzero(sizes >= observed[places] * (1.0 - ROUNDING), axis=0)
    result: npt.NDArray[np.float64] = (extreme + 1.0) / (permutations + 1.0)
    return result


@cache
def detectable_rho(n: int) -> float | None:
    """Return the smallest |rho| for which 80% of studies with n queries reach a verdict, or None if n is too small.

    The calculation uses Fisher's z and the variance of Bonett and Wright (2000), (1 + rho^2 / 2) / (n - 3), with n -
    5.5 in place of n - 3. A verdict is harder to reach than a significant test or an interval that excludes 0, because
    it requires both (simulated on normal columns in benchmarks/verdict_power.py).
    """
    if n < WORDS_AT_LEAST:
        return None
    reach = float(stats.norm.ppf(1.0 - ALPHA / 2) + stats.norm.ppf(POWER))

    def short(rho: float) -> float:
        return float(np.arctanh(rho) - reach * np.sqrt((1.0 + rho**2 / 2) / (n - COST)))

    return float(optimize.brentq(short, 0.0, 1.0 - ROUNDING))


DETECTABLE = {"pearson": paired_tests.detectable_correlation, "spearman": detectable_rho}


@lru_cache(maxsize=16)
def _orders(n: int, permutations: int, seed: int) -> npt.NDArray[np.integer]:
    """Return random orders of n indexes: (permutations, n)."""
    random = np.random.default_rng([seed, n])
    return np.array([random.permutation(n) for _ in range(permutations)], dtype=np.min_scalar_type(n))


def _standardised(columns: Array) -> Array:
    centred: Array = columns - columns.mean(axis=-1, keepdims=True)
    return centred / centred.std(axis=-1, keepdims=True)


def _sizes(products: Array, squares: Array) -> Array:
    """Return |statistic| from the sums of products of standardised columns and of their squares; 0 if undefined."""
    scale = np.sqrt(squares)
    return np.abs(products) / np.where(scale > ROUNDING, scale, np.inf)
