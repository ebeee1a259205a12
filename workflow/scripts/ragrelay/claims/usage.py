"""How far evidence moved the model, by stance: mean ACU with intervals, predictions, conflicts with what it knew."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from ragrelay.analysis.bootstrap import Interval, bca_interval, resample_counts
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.claims.stances import STANCES

ALL = "all stances"
CLAIMS_AT_LEAST = 4
METHOD = "bootstrap BCa over claims, expanded"
UNITS = ["claims", "generator", "template"]
SCHEMA: dict[str, Any] = {
    **dict.fromkeys([*UNITS, "stance"], pl.String),
    **dict.fromkeys(["n", "n_claims"], pl.Int64),
    **dict.fromkeys(["mean_acu", "low", "high", "median_acu", "mean_change_true", "mean_change_none"], pl.Float64),
    **dict.fromkeys(["mean_change_false", "mean_mass", "mean_mass_evidence"], pl.Float64),
    **dict.fromkeys(["said_true", "said_none", "said_false"], pl.Float64),
    **dict.fromkeys(["said_true_evidence", "said_none_evidence", "said_false_evidence"], pl.Float64),
    "share_conflict": pl.Float64,
    "n_conflict": pl.Int64,
    "n_memory": pl.Int64,
    **dict.fromkeys(["share_switched", "share_switched_conflict", "share_followed"], pl.Float64),
    "method": pl.String,
    "resamples": pl.Int64,
    "reason": pl.String,
}


def usage(pairs: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Columns SCHEMA, a row per unit and stance, then one of all stances; ``pairs``: pairs.SCHEMA with UNITS.

    ``low`` and ``high`` bound the 95% interval of the mean ACU over claims, whose evidence is resampled together: rows
    of one claim share its probabilities without evidence. said_… are shares of predictions, without the evidence and
    with it. share_conflict is of the n_memory pairs where the model said True or False and the evidence takes sides;
    share_switched_conflict of the n_conflict of them that conflict. Null values come with a ``reason`` or a count of 0.
    """
    rows = [
        {**names, **_counted(part), **_interval(part, resamples, seed)} for names, part in strata(pairs) if part.height
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def strata(pairs: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """The rows of each unit and stance, and of all its stances; units in their order."""
    for key, unit in pairs.group_by(UNITS, maintain_order=True):
        names = dict(zip(UNITS, map(str, key), strict=True))
        for stance in STANCES:
            yield names | {"stance": stance}, unit.filter(evidence_stance=stance)
        yield names | {"stance": ALL}, unit


def clustered_interval(clusters: Array, sums: Array, resamples: int, seed: int) -> Interval:
    """Interval of a mean of values whose clusters (n,), numbers from 0, are resampled whole."""
    size = int(clusters.max()) + 1
    totals = np.column_stack([np.bincount(clusters, minlength=size), np.bincount(clusters, sums, minlength=size)])
    whole = totals.sum(axis=0)
    drawn = np.vstack([weights @ totals for weights in resample_counts(size, resamples, seed)])
    left = whole - totals
    return bca_interval(float(whole[1] / whole[0]), drawn[:, 1] / drawn[:, 0], left[:, 1] / left[:, 0])


def numbered(claim_ids: pl.Series) -> Array:
    """The claims of rows (n,) as numbers from 0."""
    return claim_ids.rank("dense").cast(pl.Int64).to_numpy() - 1


def _interval(part: pl.DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    values, claims = part["acu"].to_numpy(), numbered(part["claim_id"])
    if part["claim_id"].n_unique() < CLAIMS_AT_LEAST:
        return {"reason": f"fewer than {CLAIMS_AT_LEAST} claims"}
    if is_constant(values):
        return {"reason": "ACU is constant"}
    found = clustered_interval(claims, values, resamples, seed)
    return {"low": found.low, "high": found.high, "method": METHOD, "resamples": resamples, "reason": found.reason}


def _counted(part: pl.DataFrame) -> dict[str, Any]:
    conflicting = part.filter(pl.col("memory_conflict"))
    said = {
        f"said_{word}{ending}": part.select(pl.col(f"prediction{ending}").str.to_lowercase() == word).mean().item()
        for word in ("true", "none", "false")
        for ending in ("", "_evidence")
    }
    means = ("change_true", "change_none", "change_false", "mass", "mass_evidence")
    return said | {
        "n": part.height,
        "n_claims": part["claim_id"].n_unique(),
        "mean_acu": part["acu"].mean(),
        "median_acu": part["acu"].median(),
        **{f"mean_{name}": part[name].mean() for name in means},
        "share_conflict": part["memory_conflict"].mean(),
        "n_conflict": conflicting.height,
        "n_memory": part["memory_conflict"].count(),
        "share_switched": part["switched"].mean(),
        "share_switched_conflict": conflicting["switched"].mean(),
        "share_followed": part["followed"].mean(),
    }
