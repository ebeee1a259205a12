"""Measure agreement between assessors: Cohen's kappa for each pair, and Krippendorff's alpha for all assessors."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from ragrelay.analysis.bootstrap import jackknife_error
from ragrelay.analysis.clusters import Clusters
from ragrelay.analysis.coefficients import ROUNDING, Array
from ragrelay.analysis.kappa import METHOD, cohens_kappa, tables_by_query
from ragrelay.annexes.people.estimates import too_few
from ragrelay.base.vocabulary.columns import INTERVAL, INTERVAL_METHOD, REASON, STUDY_PART, integer, number, text
from ragrelay.scoring.score_files import ANSWER

KAPPA, ALPHA = "kappa_weighted", "alpha"
Numbers = npt.NDArray[np.integer[Any]]
TWICE = "answers with two scores"
MOST_SKEWED = 1.0
"""Kappa and alpha get no intervals if scores (counts, rare grades) are more skewed than this, because intervals would
cover the true value in only 86% of studies."""
MOST_VALUES = 20
"""Maximum number of distinct scores. With more, kappa is left out because few scores are equal, and alpha gets no
interval because skewed scores would make the interval too narrow."""
TABLE = {
    "people": text("name of the scorer with the human scores"),
    "quantity": text(f"coefficient in `value`: `{KAPPA}`, Cohen's kappa between two assessors with quadratic weights, "
                     f"or `{ALPHA}`, Krippendorff's alpha over all assessors with squared differences"),
    "assessor": text("name of the first assessor; empty for alpha"),
    "against": text("name of the second assessor; empty for alpha"),
    "value": number("value of the coefficient", "at most 1"),
    **INTERVAL,
    "n": integer("number of answers that both assessors scored; for alpha, number of answers that at least two "
                 "assessors scored", "answers"),
    "n_queries": integer("number of queries that the `n` answers belong to", "queries"),
    "method": INTERVAL_METHOD,
    "reason": REASON,
}  # fmt: skip
COLUMNS = {"dataset": STUDY_PART["dataset"], **TABLE}
"""Columns of assessors.csv."""


def assessors_table(rows: pl.DataFrame, clusters: Clusters | None) -> Iterator[dict[str, object]]:
    """Yield the agreement between assessors as rows of TABLE; no rows if no answer was scored by two or more people."""
    known = rows.drop_nulls(["value", "assessor"])
    number_of = pl.col("qid").rank("dense") if clusters is None else pl.col("qid").replace_strict(clusters)
    scored = known.with_columns(cluster=number_of).sort(*ANSWER, "assessor")
    several = scored.filter(pl.len().over(ANSWER) > 1)
    if several.is_empty():
        return
    counts = {"n": several.select(ANSWER).n_unique(), "n_queries": several["qid"].n_unique()}
    yield {"quantity": ALPHA, **counts, **_alpha(several)}
    if several["value"].n_unique() > MOST_VALUES:
        return
    for one, other in itertools.combinations(several["assessor"].unique().sort(), 2):
        pair = several.filter(assessor=one).join(several.filter(assessor=other), on=ANSWER, suffix="_other")
        if pair.height:
            named = {"quantity": KAPPA, "assessor": one, "against": other}
            yield {**named, "n": pair.height, "n_queries": pair["qid"].n_unique(), **_kappa(pair)}


def krippendorff(values: Array, unit: Numbers) -> float:
    """Compute Krippendorff's alpha of the scores ``values`` (n,). ``unit`` (n,): each score's answer, numbered from 0.

    With squared differences, alpha = 1 - (variance within answers, weighted by the number of scores) / (variance of all
    scores); see Krippendorff (2011). The result is NaN if all scores are equal.
    """
    counts = np.bincount(unit)
    means = np.bincount(unit, values) / np.maximum(counts, 1)
    squares = np.bincount(unit, (values - means[unit]) ** 2)
    several = counts > 1
    within = (counts[several] * squares[several] / (counts[several] - 1)).sum()
    whole = len(values) * values.var(ddof=1)
    return float(1.0 - within / whole) if whole > ROUNDING else float("nan")


def _alpha(several: pl.DataFrame) -> dict[str, object]:
    numbered = several.with_columns(unit=pl.struct(ANSWER).rank("dense") - 1, place=pl.col("cluster").rank("dense") - 1)
    values, unit, place = (numbered[name].to_numpy() for name in ("value", "unit", "place"))
    return alpha_interval(values, unit.astype(np.intp), place.astype(np.intp))


def alpha_interval(values: Array, unit: Numbers, place: Numbers) -> dict[str, object]:
    """Return Krippendorff's alpha with a jackknife interval. ``place`` (n,): each score's cluster number."""
    value = krippendorff(values, unit)
    if not np.isfinite(value):
        return {"reason": "all scores are the same"}
    clusters = int(place.max()) + 1
    means = np.bincount(unit, values) / np.bincount(unit)
    if reason := _no_interval(means, values, clusters):
        return {"value": value, "reason": reason}
    if len(np.unique(values)) > MOST_VALUES:
        return {"value": value, "reason": f"more than {MOST_VALUES} different scores"}
    left_out = np.array([_without(values, unit, place != one) for one in range(clusters)])
    error = jackknife_error(left_out)
    if not np.isfinite(error) or not error > ROUNDING:
        return {"value": value, "reason": "leaving out any one query changes nothing"}
    reach = float(special.stdtrit(clusters - 1, 0.975)) * error
    return {"value": value, "low": value - reach, "high": min(value + reach, 1.0), "method": METHOD}


def _no_interval(answers: Array, values: Array, queries: int) -> str:
    """Return why ``values``, all scores of ``answers`` (n,), have no interval; empty if they have one."""
    if reason := too_few(answers, queries, what=TWICE):
        return reason
    centred = values - values.mean()
    skewness = float((centred**3).mean() / (centred**2).mean() ** 1.5)
    return "intervals aren't reliable for scores this skewed" if abs(skewness) > MOST_SKEWED else ""


def _without(values: Array, unit: Numbers, kept: npt.NDArray[np.bool_]) -> float:
    _, numbers = np.unique(unit[kept], return_inverse=True)
    return krippendorff(values[kept], numbers)


def _kappa(pair: pl.DataFrame) -> dict[str, object]:
    one, other = (pair[name].to_numpy() for name in ("value", "value_other"))
    query = (pair["cluster"].rank("dense") - 1).to_numpy().astype(np.int64)
    labels, places = np.unique([one, other], return_inverse=True)
    first, second = places.reshape(2, -1)
    value, low, high = (
        float(figure) for figure in cohens_kappa(tables_by_query(query, first, second, len(labels)), True, labels)
    )
    if not np.isfinite(value):
        return {"reason": "both assessors give every answer the same score"}
    if reason := _no_interval(one, np.concatenate([one, other]), int(query.max()) + 1):
        return {"value": value, "reason": reason}
    if not np.isfinite(low) or low == high:
        return {"value": value, "reason": "leaving out any one query changes nothing"}
    return {"value": value, "low": low, "high": high, "method": METHOD}
