"""Relevance transmission: how utility follows retrieval quality over queries (Tian et al., ECIR 2025, eq. 3)."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis import asymptotic, multiplicity, paired_tests, permutation
from ragrelay.analysis.bootstrap import METHOD, Interval, bootstrap_intervals
from ragrelay.analysis.cells import by_cell
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.verdicts import of_correlation
from ragrelay.vocabulary.columns import (
    CELL_COLUMNS,
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    RESAMPLES,
    STUDY_PART,
    adjusted,
    real,
    schema_of,
    text,
    whole,
)

LOW_P0 = 0.1
# The least P_0 of a subset of the queries; "all" has those without one, too.
SUBSETS = {"all": None, f"p0>={LOW_P0}": LOW_P0}
TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
# Rank coefficients take longer per resample, and their intervals need fewer.
RESAMPLES_AT_MOST = {"spearman": 2_000, "kendall": 1_000}
# Above this many queries rank coefficients get large-sample intervals.
RANKS_BOOTSTRAPPED_AT_MOST = 1_000
QUERIES_AT_LEAST = 4
FAMILY = ("coefficient", "references", "measure", "subset")
P_VALUES = {"p_value": "p", "p_permutation": "p_permutation"}
CELLS = ("retriever", "ordering")
# The coefficient whose intervals cover on skewed columns too, and so has a verdict.
DECIDES = "spearman"
DETECTABLE = {"pearson": paired_tests.detectable_correlation, "spearman": permutation.detectable_rho}
# Scores are of the order of 1; a column that varies by less than this varies by rounding.
CONSTANT = 1e-12
TABLE = {
    **CELL_COLUMNS,
    "measure": text("retrieval measure, at k"),
    "subset": text("queries: `all`, or those with a P₀ of at least 0.1"),
    "coefficient": text("`pearson` (r), `spearman` (rho) or `kendall` (tau-b)"),
    "value": real("correlation over queries of the measure with utility", "−1 to 1"),
    **INTERVAL,
    "n": whole("queries with both", "queries"),
    "n_null": whole("queries left out because they have no utility", "queries"),
    "n_unmeasured": whole("queries left out because they have no measure", "queries"),
    "p_value": real("two-sided p-value of the coefficient = 0, uncorrected"),
    "p_permutation": real("two-sided p-value of a studentised permutation test, uncorrected"),
    "verdict": text("`above zero`, `below zero` or `undecided`, of rho; empty of the other coefficients"),
    "detectable": real(
        "smallest |r| or |rho| detectable with n queries at α = .05 and 80% power: r by its t-test, "
        "rho by what gives the verdict"
    ),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
}
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted(P_VALUES)}
"""Those of correlation.csv."""


@dataclass(frozen=True)
class PairedColumns:
    """One cell's paired columns (n,), what names and counts it, and why it has no coefficient, if so."""

    names: dict[str, Any]
    utility: Array
    measure: Array
    reason: str | None

    @property
    def digest(self) -> bytes:
        """Equal for cells of equal data, such as both subsets where no P_0 is low."""
        return hashlib.sha256(self.utility.tobytes() + b"/" + self.measure.tobytes()).digest()


def is_constant(column: Array) -> bool:
    """Whether a column's values differ by rounding at most."""
    return bool(np.ptp(column) <= CONSTANT * max(1.0, float(np.abs(column).max())))


def transmission(utility: pl.DataFrame, retrieval: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Correlate one retriever's utility with its retrieval measures: a row (``SCHEMA``) per cell and coefficient.

    ``utility`` has the utility table's columns, ``retrieval`` qid, measure, k, value. A cell is ordering x k x
    references x measure x subset (all queries; those with P_0 of at least 0.1). Queries are paired by qid at the
    cell's k; those of the subset with null utility are left out and counted (n_null), and so are those without the
    measure (n_unmeasured). ``value`` and ``p_value`` (two-sided, coefficient = 0) are scipy's; ``low`` and ``high``
    bound the 95% interval that ``method`` names; ``detectable`` is the smallest |r| or |rho| that this many queries
    find at 5% with 80% probability, rho as in the verdict. Null values come with a ``reason``. ``p_permutation`` is the
    studentised permutation test's (r and rho). The ``verdict`` is rho's alone: above or below zero where that test
    rejects at 5% and the interval leaves out 0; no interval of r covers what it promises on skewed columns
    (docs/statistics.md).
    """
    return pl.DataFrame(correlate(_cells(utility, retrieval), resamples, seed), schema=SCHEMA)


def correlate(cells: Iterable[PairedColumns], resamples: int, seed: int) -> list[dict[str, Any]]:
    """A row per cell and coefficient: the cell's names, then as in ``transmission`` from coefficient on."""
    cells = list(cells)
    results: dict[tuple[bytes, str], dict[str, Any]] = {}
    distinct = {cell.digest: cell for cell in cells if cell.reason is None}
    for coefficient in TESTS:
        by_n: dict[int, list[PairedColumns]] = defaultdict(list)
        for cell in distinct.values():
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


def _cells(utility: pl.DataFrame, retrieval: pl.DataFrame) -> Iterator[PairedColumns]:
    keys = ["retriever", "ordering", "k", "references", "measure"]
    known = retrieval.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan())
    joined = (
        utility.join(retrieval.select("measure").unique(), how="cross")
        .join(known.select("measure", "k", "qid", "value"), on=["measure", "k", "qid"], how="left")
        .sort(*keys, "qid")
    )
    for key, (p0, x, y) in by_cell(joined, keys, ["p0", "utility", "value"]):
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
            yield PairedColumns(
                names | counts, x[pairs], y[pairs], no_coefficient(x[pairs], y[pairs], names["measure"])
            )


def no_coefficient(utility: Array, measure: Array, name: str, quantity: str = "utility") -> str | None:
    """Why these columns (n,) have no correlation; None where they have one. ``name`` is the measure's."""
    if len(utility) < QUERIES_AT_LEAST:
        return f"fewer than {QUERIES_AT_LEAST} queries"
    if is_constant(utility):
        return f"{quantity} is constant"
    return f"{name} is constant" if is_constant(measure) else None


def with_adjusted(correlations: pl.DataFrame) -> pl.DataFrame:
    """Add family (coefficient x references x measure x subset), family_size, p_holm, p_bh, p_permutation_holm, ..."""
    return multiplicity.with_adjusted(correlations, FAMILY, P_VALUES, CELLS)


def _coefficients(coefficient: str, cells: Sequence[PairedColumns], resamples: int, seed: int) -> list[dict[str, Any]]:
    """Value, interval and p-value of ``coefficient`` for cells of equal n."""
    n = len(cells[0].utility)
    tests = _tests(coefficient, cells)
    drawn: int | None = None
    intervals: list[Interval]
    permuted: Sequence[float | None] = [None] * len(cells)
    if coefficient in permutation.TRANSFORMS:
        pairs = [(cell.utility, cell.measure) for cell in cells]
        permuted = list(map(float, permutation.permutation_p(coefficient, pairs, resamples, seed)))
    if coefficient == "pearson" or n <= RANKS_BOOTSTRAPPED_AT_MOST:
        drawn, method = min(resamples, RESAMPLES_AT_MOST.get(coefficient, resamples)), METHOD
        intervals = bootstrap_intervals(coefficient, [(cell.utility, cell.measure) for cell in cells], drawn, seed)
    elif coefficient == "spearman":
        method = asymptotic.SPEARMAN_METHOD
        intervals = [asymptotic.spearman_interval(value, n) for value, _ in tests]
    else:
        method = asymptotic.KENDALL_METHOD
        intervals = [
            asymptotic.kendall_interval(value, cell.utility, cell.measure)
            for cell, (value, _) in zip(cells, tests, strict=True)
        ]
    return [
        {
            "value": value,
            "low": interval.low,
            "high": interval.high,
            "p_value": p_value,
            "p_permutation": p_permutation,
            "verdict": of_correlation(interval.low, interval.high, p_permutation)
            if coefficient == DECIDES and p_permutation is not None
            else None,
            "detectable": DETECTABLE[coefficient](n) if coefficient in DETECTABLE else None,
            "method": method,
            "resamples": drawn,
            "reason": interval.reason,
        }
        for (value, p_value), interval, p_permutation in zip(tests, intervals, permuted, strict=True)
    ]


def _tests(coefficient: str, cells: Sequence[PairedColumns]) -> list[tuple[float, float]]:
    """Value and p-value of each of ``cells``, of equal n: of r at once, which scipy's other functions can't."""
    if coefficient == "pearson":
        utility, measure = (np.array([getattr(cell, name) for cell in cells]) for name in ("utility", "measure"))
        results = stats.pearsonr(utility, measure, axis=1)
        return list(zip(results.statistic.tolist(), results.pvalue.tolist(), strict=True))
    tests = [TESTS[coefficient](cell.utility, cell.measure) for cell in cells]
    return [(float(test.statistic), float(test.pvalue)) for test in tests]
