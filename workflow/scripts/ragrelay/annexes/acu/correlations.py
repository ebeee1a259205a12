"""Correlate characteristics of the evidence with ACU, separately for each stance."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy import stats

from ragrelay.analysis.bootstrap import CHUNK, STATISTICS, bca_interval, resample_counts
from ragrelay.analysis.clusters import clustered_slope
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.correlation import TESTS, is_constant
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.annexes.acu.characteristic_columns import NAMES
from ragrelay.annexes.acu.usage import CLAIMS_AT_LEAST, METHOD, UNIT_COLUMNS, UNITS, numbered, strata
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    RESAMPLES,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)

COEFFICIENTS = ("spearman", "pearson")
RESAMPLES_AT_MOST = 2_000
PAIRS_AT_LEAST = 5
FAMILY = (*UNITS, "stance", "coefficient")
P_VALUES = {"p_value": "p", "p_claims": "p_claims"}
TABLE = {
    **UNIT_COLUMNS,
    "stance": text("stance of the evidence: a single stance, `supports or refutes`, or `all stances`"),
    "characteristic": text("name of the evidence's characteristic; in the statistics, true counts as 1 and false as 0"),
    "coefficient": text("correlation coefficient: `spearman` (rho) or `pearson` (r)"),
    "value": number("correlation between the characteristic and ACU, over pairs", "−1 to 1"),
    **INTERVAL,
    "n": integer("number of claim–evidence pairs with values for both the characteristic and ACU", "pairs"),
    "n_claims": integer("number of distinct claims among the pairs", "claims"),
    "n_missing": integer("number of claim–evidence pairs without a value for the characteristic", "pairs"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the coefficient is 0, treating pairs "
        "as independent"),
    "p_claims": number("uncorrected two-sided p-value for the null hypothesis that the coefficient is 0, with claims "
        "as the unit of analysis; conclusions are based on this p-value"),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
    "df_claims": number("number of degrees of freedom for `p_claims`; small if only a few claims differ from the rest "
        "in the characteristic"),
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**TABLE, **adjusted(P_VALUES)}
"""Columns of correlations.csv."""


def acu_correlations(pairs: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Correlate each characteristic with ACU, separately for each claim set, generator, template and stance.

    ``pairs`` has columns UNITS, claim_id, evidence_stance, acu and the characteristics; true is treated as 1 and false
    as 0. As in the paper, ``p_value`` treats pairs as independent. ``p_claims`` comes from a t-test of the slope of ACU
    on the characteristic (for Spearman, both as ranks); the standard error comes from a jackknife over claims with
    ``df_claims`` degrees of freedom. For intervals, all of a claim's pairs are resampled together. Returns columns
    SCHEMA and p-values adjusted for the number of characteristics.
    """
    rows = [
        names | {"characteristic": name} | row
        for names, part in strata(pairs)
        for name in NAMES
        for row in _rows(part, name, min(resamples, RESAMPLES_AT_MOST), seed)
    ]
    return with_adjusted(pl.DataFrame(rows, schema=SCHEMA), FAMILY, P_VALUES)


def _rows(part: pl.DataFrame, name: str, resamples: int, seed: int) -> Iterator[dict[str, object]]:
    known = part.filter(pl.col(name).is_not_null())
    x, y = known[name].cast(pl.Float64).to_numpy(), known["acu"].to_numpy()
    n_claims = known["claim_id"].n_unique()
    counts = {"n": known.height, "n_claims": n_claims, "n_missing": part.height - known.height}
    reason = None
    if known.height < PAIRS_AT_LEAST or n_claims < CLAIMS_AT_LEAST:
        reason = f"fewer than {PAIRS_AT_LEAST} pairs or {CLAIMS_AT_LEAST} claims"
    elif is_constant(x) or is_constant(y):
        reason = f"{name if is_constant(x) else 'ACU'} is constant"
    for coefficient in COEFFICIENTS:
        if reason:
            yield counts | {"coefficient": coefficient, "reason": reason}
            continue
        test = TESTS[coefficient](x, y)
        tested = {"coefficient": coefficient, "value": float(test.statistic), "p_value": float(test.pvalue)}
        yield counts | tested | _interval(name, coefficient, x, y, numbered(known["claim_id"]), resamples, seed)


def _interval(
    name: str, coefficient: str, x: Array, y: Array, claims: Array, resamples: int, seed: int
) -> dict[str, object]:
    """Compute interval and test by resampling claims, each with all its pairs: a pair gets its claim's weight."""
    statistic, size = STATISTICS[coefficient], int(claims.max()) + 1
    value = float(statistic(np.ones((1, len(x))), x, y)[0])
    if 1.0 - abs(value) < ROUNDING:
        return {"reason": "perfect correlation, so no spread between resamples"}
    # resample_counts limits its chunks by the number of claims; there are more pairs, so split the chunks again.
    draws = [
        statistic(weights[rows][:, claims], x, y)
        for weights in resample_counts(size, resamples, seed)
        for rows in _slices(len(weights), len(x))
    ]
    left_out = [statistic((np.arange(size)[rows, None] != claims).astype(np.float64), x, y)
                for rows in _slices(size, len(x))]  # fmt: skip
    interval = bca_interval(value, np.concatenate(draws), np.concatenate(left_out), columns={name: x, "ACU": y})
    a, b = (x, y) if coefficient == "pearson" else (stats.rankdata(x), stats.rankdata(y))
    tested = clustered_slope(a, b, claims.astype(np.intp))
    return {"low": interval.low, "high": interval.high, "p_claims": tested.p_value, "df_claims": tested.df,
            "method": METHOD, "resamples": resamples, "reason": interval.reason}  # fmt: skip


def _slices(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of rows with at most CHUNK values each."""
    step = max(1, CHUNK // columns)
    return (slice(start, start + step) for start in range(0, rows, step))
