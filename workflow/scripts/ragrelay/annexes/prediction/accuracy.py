"""Compute each predictor's AUROC and rank errors, and test differences between predictors' rank correlations."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy import special, stats

from ragrelay.analysis import bootstrap, multiplicity
from ragrelay.analysis.coefficients import ROUNDING, Array, pearson_features, pearson_left_out, pearson_of_sums
from ragrelay.analysis.correlation import no_coefficient
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.annexes.prediction.cells import GAIN, KEYS, PART, P, PredictedCell, oriented
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    QID,
    REASON,
    STUDY_PART,
    adjusted,
    integer,
    number,
    schema_of,
    text,
)

AUROC, SMARE = "auroc", "smare"
TABLE = {
    **PART,
    "statistic": text("statistic in `value`: `auroc`, the area under the ROC curve when the predictor separates "
                      "queries with a gain above 0 from the others; `smare`, the mean over queries of |rank by "
                      "predictor − rank by target|, divided by the number of queries"),
    "value": number("value of the statistic", "0 to 1"),
    **INTERVAL,
    "chance": number("value expected for a predictor without information", "0 to 1"),
    "n": integer("number of queries with values for both the predictor and the target", "queries"),
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the true AUROC is at chance level; "
                      "empty for `smare`"),
    "reason": REASON,
}  # fmt: skip
SCHEMA = schema_of(TABLE)
COLUMNS = {**STUDY_PART, **TABLE, **adjusted()}
"""Columns of prediction_accuracy.csv."""
SARE = {
    **PART,
    "qid": QID,
    "sare": number("scaled absolute rank error: |rank by predictor − rank by target| of the query, divided by the "
        "number of queries", "0 to 1"),
}  # fmt: skip
SARE_SCHEMA = schema_of(SARE)
SARE_COLUMNS = {**STUDY_PART, **SARE}
"""Columns of prediction_sare.parquet."""
COMPARED = {
    **PART,
    "against": text("name of the cell's best predictor or of the retrieval measure, with which the predictor is "
        "compared"),
    "role": text("role of the other side of the comparison: `best` (the cell's best predictor) or `measure` (the "
        "retrieval measure)"),
    "rho": number("Spearman's rho between the predictor and the target, with the sign reversed for predictors whose "
        "lower values are better", "−1 to 1"),
    "against_rho": number("Spearman's rho between the predictor or measure in `against` and the target, with the sign "
        "reversed in the same way", "−1 to 1"),
    "difference": number("`rho` minus `against_rho`"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the difference is 0"),
    "n": integer("number of queries with values for the target, the predictor, and the predictor or measure in "
        "`against`", "queries"),
    "reason": REASON,
}  # fmt: skip
COMPARED_SCHEMA = schema_of(COMPARED)
COMPARED_COLUMNS = {**STUDY_PART, **COMPARED, **adjusted()}
"""Columns of prediction_comparison.csv."""


def accuracies(cells: Iterable[PredictedCell]) -> pl.DataFrame:
    """Compute AUROC (for gain) and sMARE (for every target) for each predictor in each cell.

    Returns the columns in COLUMNS except STUDY_PART. AUROC is computed as in DeLong, DeLong and Clarke-Pearson (1988);
    its interval uses Student's t on the logit scale, and its p-value comes from the Mann-Whitney test. sMARE is
    computed as in Faggioli et al. (2022), with a t interval over queries; random ranks would give (1 - 1 / n^2) / 3.
    Holm's correction covers all predictors, separately for each cell, target and statistic.
    """
    rows = []
    for cell in cells:
        for target, predictor, x, y in cell.pairs():
            names = {**cell.names, "target": target, "predictor": predictor, "n": len(x)}
            turned = oriented({predictor: x}, target)[predictor]
            if target == GAIN:
                rows.append(names | {"statistic": AUROC, "chance": 0.5} | auroc(turned, y > 0))
            rows.append(names | {"statistic": SMARE} | smare(turned, y))
    table = pl.DataFrame(rows, schema=SCHEMA)
    return multiplicity.with_adjusted(table, [*KEYS, "statistic"], {"p_value": "p"})


def auroc(x: Array, positive: np.ndarray) -> dict[str, object]:
    """Compute how well ``x`` separates ``positive`` queries from the others (AUROC), with an interval and a p-value."""
    m, n = int(positive.sum()), int((~positive).sum())
    if min(m, n) < 2:
        return {"reason": "fewer than two queries with a gain, or without one"}
    ours, theirs = x[positive], x[~positive]
    wins = (np.sign(ours[:, None] - theirs) + 1) / 2
    value = float(wins.mean())
    row: dict[str, object] = {"value": value, "p_value": float(stats.mannwhitneyu(ours, theirs).pvalue)}
    variance = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
    if not 0.0 < value < 1.0 or not variance > 0.0:
        return row | {"reason": "no overlap, so no sampling variance"}
    reach = float(special.stdtrit(m + n - 2, 0.975)) * np.sqrt(variance) / (value * (1.0 - value))
    low, high = (float(special.expit(special.logit(value) + side * reach)) for side in (-1, 1))
    return row | {"low": low, "high": high}


def smare(x: Array, y: Array) -> dict[str, object]:
    """Return the scaled mean absolute rank error (sMARE) between ``x`` and ``y``, its interval and its chance level."""
    if reason := no_coefficient(y, x, "the predictor", "the target"):
        return {"reason": reason}
    n, errors = len(x), sare(x, y)
    reach = float(special.stdtrit(n - 1, 0.975)) * errors.std(ddof=1) / np.sqrt(n)
    mean = float(errors.mean())
    return {"value": mean, "low": mean - reach, "high": mean + reach, "chance": (1.0 - 1.0 / n**2) / 3.0}


def sare(x: Array, y: Array) -> Array:
    """Return |rank in ``x`` - rank in ``y``| / n for each of the n queries; tied queries share their mean rank."""
    distances: Array = np.abs(stats.rankdata(x) - stats.rankdata(y)) / len(x)
    return distances


def query_errors(cells: Iterable[PredictedCell]) -> pl.DataFrame:
    """Compute each query's scaled absolute rank error (sARE) for every predictor, with P and the gain as targets.

    Returns the columns in SARE_COLUMNS except STUDY_PART. The mean error over queries is the predictor's sMARE. A
    predictor whose sMARE is undefined has no rows.
    """
    frames = [pl.DataFrame(schema=SARE_SCHEMA)]
    for cell in cells:
        for target, predictor, x, y in cell.pairs():
            if target in (P, GAIN) and no_coefficient(y, x, "") is None:
                known = np.isfinite(cell.predictors[predictor]) & np.isfinite(cell.targets[target])
                names = {**cell.names, "target": target, "predictor": predictor}
                frames.append(
                    pl.DataFrame({"qid": np.array(cell.qids)[known]}).select(
                        *(pl.lit(value, SARE_SCHEMA[name]).alias(name) for name, value in names.items()),
                        pl.col("qid").cast(pl.String),
                        sare=sare(oriented({predictor: x}, target)[predictor], y),
                    )
                )
    return pl.concat(frames)


def predictor_comparisons(cells: Iterable[PredictedCell], measure: str) -> pl.DataFrame:
    """Compare each predictor's rho with the best predictor's rho and the retrieval measure's rho in the same cell.

    Returns the columns in COMPARED_COLUMNS except STUDY_PART. Differences are tested with a jackknife over queries. The
    best predictor is chosen on the same queries, so part of its lead is due to chance. Even a significant difference
    (after Holm's correction) only suggests that a predictor isn't the best; it doesn't show which predictor is.
    """
    rows = [row for cell in cells for row in _compared(cell, measure)]
    table = pl.DataFrame(rows, schema=COMPARED_SCHEMA)
    return multiplicity.with_adjusted(table, [*KEYS, "role"], {"p_value": "p"})


def _compared(cell: PredictedCell, measure: str) -> Iterator[dict[str, object]]:
    for target, y in cell.targets.items():
        turned = oriented(cell.predictors, target)
        rhos = {name: _rho(x, y) for name, x in turned.items()}
        known = {name: rho for name, rho in rhos.items() if rho is not None}
        best = max(known, key=known.__getitem__, default=None)
        against: dict[str, tuple[str, Array]] = {} if best is None else {"best": (best, turned[best])}
        if target != measure:
            against["measure"] = (measure, cell.targets[measure])
        for role, (other, z) in against.items():
            for name, x in turned.items():
                if name != other:
                    names = {**cell.names, "target": target, "predictor": name, "against": other, "role": role}
                    yield names | rho_difference(x, z, y)


def _rho(x: Array, y: Array) -> float | None:
    known = np.isfinite(x) & np.isfinite(y)
    if no_coefficient(y[known], x[known], "") is not None:
        return None
    return float(stats.spearmanr(x[known], y[known]).statistic)


def rho_difference(x: Array, z: Array, y: Array) -> dict[str, object]:
    """Test the difference rho(``x``, ``y``) - rho(``z``, ``y``) over the queries with values in all three arrays."""
    known = np.isfinite(x) & np.isfinite(z) & np.isfinite(y)
    row: dict[str, Any] = {"n": int(known.sum())}
    reasons = [no_coefficient(y[known], column[known], "a predictor", "the target") for column in (x, z)]
    if known.sum() < QUERIES_AT_LEAST or any(reasons):
        return row | {"reason": next(filter(None, reasons), f"fewer than {QUERIES_AT_LEAST} queries")}
    ranks = [stats.rankdata(column[known]) for column in (x, z, y)]
    draws = pearson_features([(ranks[0], ranks[2]), (ranks[1], ranks[2])])
    rho, against = pearson_of_sums(draws.sum(axis=0, keepdims=True))[0]
    left_out = pearson_left_out(draws)
    row |= {"rho": float(rho), "against_rho": float(against), "difference": float(rho - against)}
    error = bootstrap.jackknife_error(left_out[:, 0] - left_out[:, 1])
    if not error > ROUNDING:
        return row | {"reason": "leaving out any one query changes nothing"}
    reach = float(special.stdtrit(row["n"] - 1, 0.975)) * error
    p_value = float(2.0 * special.stdtr(row["n"] - 1, -abs(row["difference"]) / error))
    return row | {"low": row["difference"] - reach, "high": row["difference"] + reach, "p_value": p_value}
