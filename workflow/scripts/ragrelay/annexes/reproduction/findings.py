"""Test the three findings of Tian et al. (ECIR 2025) on a study's queries.

(a) Relevance and utility are weakly correlated. (b) The correlation falls as k grows. (c) A more effective retriever
leads to better answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import special, stats

from ragrelay.analysis import bootstrap, coefficients, mean_tests
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant, no_coefficient
from ragrelay.analysis.dependent import paired_columns
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST, UNDECIDED
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

CORRELATED, FALLS, BETTER = (
    "relevance and utility correlate",
    "the correlation falls with k",
    "better ranked, better answered",
)
METHOD = "paired jackknife, Student's t (Satterthwaite)"
AS_IN_THE_PAPER, OPPOSITE = "as in the paper", "the opposite"
COLUMNS = {
    **STUDY_PART,
    "references": REFERENCES,
    "finding": text(f"finding that is tested: `{CORRELATED}` (a), `{FALLS}` (b) or `{BETTER}` (c)"),
    "of": text("retrievers in the test; for (c), the better-ranked retriever minus the other"),
    "measure": text("name of the retrieval measure, which is computed at k"),
    "n": integer("number of queries", "queries"),
    "n_cells": integer("number of cells over which the estimate is computed", "cells"),
    "estimate": number("(a) mean over cells of Pearson's r between measure and utility; (b) mean over retrievers and "
                       "orderings of the slope of r over k, per passage; (c) mean over cells of the difference in P"),
    **INTERVAL,
    "p_value": number("uncorrected two-sided p-value for the null hypothesis that the estimated quantity is 0"),
    "method": INTERVAL_METHOD,
    "verdict": text(f"`{AS_IN_THE_PAPER}` or `{OPPOSITE}` if `p_value` is below 0.05, otherwise `{UNDECIDED}`"),
    "reason": REASON,
}  # fmt: skip
"""Columns of findings.csv."""
Place = tuple[str, str, int]


def paper_findings(
    utility: pl.DataFrame, retrieval: pl.DataFrame, rankings: Sequence[str], measure: str, references: Sequence[str]
) -> pl.DataFrame:
    """Test the three findings in a section of a study, for each reference set (columns COLUMNS without STUDY_PART).

    ``utility`` has columns analysis.utility.COLUMNS; ``retrieval`` has columns retriever, qid, measure, k and value.
    Only retrievers in ``rankings`` are used, because effectiveness is meaningless for an oracle. (a) and (b) are tested
    with a jackknife over queries and Student's t; (c) is tested in the same way as gains in gain.csv.
    """
    rows = []
    measured = retrieval.filter(pl.col("retriever").is_in(rankings), pl.col("value").is_not_nan(), measure=measure)
    for name in references:
        own = utility.filter(pl.col("retriever").is_in(rankings), references=name)
        if own.height:
            part = {"references": name, "measure": measure}
            rows += [part | row for row in correlation_findings(paired_columns(own, measured), measure)]
            rows += [part | row for row in _better(own, measured, rankings)]
    return pl.DataFrame(rows, schema={k: v for k, v in schema_of(COLUMNS).items() if k not in STUDY_PART})


def verdict(estimate: float, p_value: float, expected: int) -> str:
    """Return the verdict on a finding. ``expected``: the sign of the estimate in the paper, 1 or -1."""
    if p_value >= ALPHA:
        return UNDECIDED
    return AS_IN_THE_PAPER if np.sign(estimate) == expected else OPPOSITE


def correlation_findings(cells: Mapping[Place, tuple[Array, Array]], measure: str) -> Iterator[dict[str, object]]:
    """Test findings (a) and (b). ``cells``: utility and measure (n,), NaN if missing, keyed by cell."""
    pairs: dict[Place, tuple[Array, Array]] = {}
    for cell, (x, y) in cells.items():
        defined = np.isfinite(x) & np.isfinite(y)
        if no_coefficient(x[defined], y[defined], measure) is None:
            pairs[cell] = x, y
    retrievers = ", ".join(dict.fromkeys(retriever for retriever, _, _ in pairs))
    for finding, weights, expected in ((CORRELATED, _mean(pairs), 1), (FALLS, _slopes(pairs), -1)):
        row: dict[str, object] = {"finding": finding, "of": retrievers, "n_cells": len(weights), "verdict": UNDECIDED}
        if not weights:
            reason = (
                "no cell with a correlation" if finding == CORRELATED else "no retriever with a correlation at two k"
            )
            yield row | {"reason": reason}
            continue
        features = coefficients.pearson_features([pairs[cell] for cell in weights])
        factors = np.array(list(weights.values()))
        estimate = float(coefficients.pearson_of_sums(features.sum(axis=0, keepdims=True))[0] @ factors)
        known = features[:, : len(weights)].any(axis=1)
        left_out = (coefficients.pearson_left_out(features) @ factors)[known]
        yield row | {"n": len(left_out), "estimate": estimate} | _jackknifed(estimate, left_out, expected)


def _mean(pairs: Mapping[Place, object]) -> dict[Place, float]:
    return {cell: 1.0 / len(pairs) for cell in pairs}


def _slopes(pairs: Mapping[Place, object]) -> dict[Place, float]:
    """Return the cells' weights in the least-squares slope of r over k, averaged over retrievers and orderings."""
    lines: dict[tuple[str, str], list[int]] = {}
    for retriever, ordering, k in pairs:
        lines.setdefault((retriever, ordering), []).append(k)
    several = {line: np.array(ks, dtype=float) for line, ks in lines.items() if len(ks) > 1}
    return {
        (*line, int(k)): float((k - ks.mean()) / ((ks - ks.mean()) ** 2).sum() / len(several))
        for line, ks in several.items()
        for k in ks
    }


def _jackknifed(estimate: float, left_out: Array, expected: int) -> dict[str, object]:
    n = len(left_out)
    if n < QUERIES_AT_LEAST or not np.isfinite(left_out).all():
        if n < QUERIES_AT_LEAST:
            return {"reason": f"fewer than {QUERIES_AT_LEAST} queries"}
        lost = n - int(np.isfinite(left_out).sum())
        return {"reason": f"leaving out one query makes a cell's measure or utility constant ({lost} of {n} queries)"}
    error = bootstrap.jackknife_error(left_out)
    if not error > coefficients.ROUNDING:
        return {"reason": "leaving out any one query changes nothing"}
    freedom = degrees_of_freedom(left_out)
    reach = float(special.stdtrit(freedom, 0.975)) * error
    p_value = float(2.0 * special.stdtr(freedom, -abs(estimate) / error))
    interval = {"low": estimate - reach, "high": estimate + reach, "p_value": p_value, "method": METHOD}
    return interval | {"verdict": verdict(estimate, p_value, expected)}


def degrees_of_freedom(left_out: Array) -> float:
    """Estimate a jackknife variance's degrees of freedom from ``left_out``'s kurtosis; normal values give n - 1.

    The formula 2 / CV^2 is from Satterthwaite (1946). CV is the coefficient of variation of a sample variance:
    CV^2 = (kurtosis - (n - 3) / (n - 1)) / n. A few queries with extreme utility reduce the degrees of freedom.
    """
    n, kurtosis = len(left_out), float(stats.kurtosis(left_out, fisher=False))
    return min(n - 1.0, 2.0 * n / (kurtosis - (n - 3) / (n - 1)))


def _better(utility: pl.DataFrame, measured: pl.DataFrame, rankings: Sequence[str]) -> Iterator[dict[str, object]]:
    """Test (c) for every pair of retrievers on each query's P, averaged over common cells."""
    cell = ["ordering", "k"]
    for names in combinations(rankings, 2):
        sides = [utility.filter(retriever=name).select(*cell, "qid", "p") for name in names]
        paired = sides[0].join(sides[1], on=[*cell, "qid"], suffix="_other").drop_nulls(["p", "p_other"])
        ks = paired["k"].unique().implode()
        means = [measured.filter(pl.col("k").is_in(ks), retriever=name)["value"].mean() for name in names]
        if paired.is_empty() or None in means or means[0] == means[1]:
            continue
        sign = 1 if means[0] > means[1] else -1  # type: ignore[operator]
        difference = " − ".join(names[::sign])
        gain = paired.with_columns(gain=sign * (pl.col("p") - pl.col("p_other")))
        values = gain.group_by("qid", maintain_order=True).agg(pl.col("gain").mean()).sort("qid")["gain"].to_numpy()
        row: dict[str, Any] = {
            "finding": BETTER, "of": difference, "n": len(values), "n_cells": paired.select(cell).n_unique(),
            "estimate": float(values.mean()), "verdict": UNDECIDED,
        }  # fmt: skip
        if len(values) < QUERIES_AT_LEAST or is_constant(values):
            yield row | {"reason": f"fewer than {QUERIES_AT_LEAST} queries, or all differences are equal"}
            continue
        test = mean_tests.Means.of(values[:, None])
        (low,), (high,) = test.interval()
        p_value = float(test.p_value()[0])
        interval = {"low": float(low), "high": float(high), "p_value": p_value, "method": mean_tests.METHOD}
        yield row | interval | {"verdict": verdict(row["estimate"], p_value, 1)}
