"""Summarise how far evidence shifted a model: mean ACU with interval, predictions and memory conflicts by stance."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from ragrelay.analysis.bootstrap import Interval, bca_interval, resample_counts
from ragrelay.analysis.coefficients import Array
from ragrelay.analysis.correlation import is_constant
from ragrelay.annexes.acu.stances import MEANT, STANCES
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    RESAMPLES,
    STUDY_PART,
    integer,
    number,
    schema_of,
    text,
)

ALL = "all stances"
SUFFICIENT = "supports or refutes"
"""The stances that suffice for a verdict. Figure 3 of Hagström et al. shows each data set's mean ACU over these two."""
CLAIMS_AT_LEAST = 4
METHOD = "bootstrap BCa over claims, expanded"
UNIT_COLUMNS = {
    "claims": text("name of the set of claims in the configuration"),
    "generator": STUDY_PART["generator"],
    "template": text("name of the prompt template"),
}
UNITS = list(UNIT_COLUMNS)
PREDICTION_WORDS = {"true": "True", "none": "None", "false": "False"}
COLUMNS = {
    **UNIT_COLUMNS,
    "stance": text("stance of the evidence: a single stance, `supports or refutes`, or `all stances`"),
    "n": integer("number of claim–evidence pairs", "pairs"),
    "n_claims": integer("number of distinct claims among the pairs", "claims"),
    "mean_acu": number("mean ACU over pairs", "−1 to 1"),
    **INTERVAL,
    "median_acu": number("median ACU over pairs", "−1 to 1"),
    **{f"mean_change_{word}": number(f"mean of `change_{word}` over pairs",
                                     "−1 to 1") for word, said in PREDICTION_WORDS.items()},
    "mean_mass": number("total probability of True, None and False without the evidence, averaged over "
                        "pairs", "0 to 1"),
    "mean_mass_evidence": number("total probability of True, None and False with the evidence, averaged over "
                                 "pairs", "0 to 1"),
    **{f"said_{word}": number(f"share of pairs for which {said} is the likeliest word without the evidence", "0 to 1")
       for word, said in PREDICTION_WORDS.items()},
    **{f"said_{word}_evidence": number(f"share of pairs for which {said} is the likeliest word with the "
                                       "evidence", "0 to 1")
       for word, said in PREDICTION_WORDS.items()},
    "share_conflict": number("share of the `n_memory` pairs in which the evidence contradicts the prediction that the "
                             "model makes without the evidence", "0 to 1"),
    "n_conflict": integer("number of pairs in which the evidence contradicts the prediction that the model makes "
                          "without the evidence", "pairs"),
    "n_memory": integer("number of pairs whose evidence has a stance other than `not_applicable`", "pairs"),
    "share_switched": number("share of pairs for which the evidence changes the likeliest word", "0 to 1"),
    "share_switched_conflict": number("share of the `n_conflict` pairs for which the evidence changes the likeliest "
                                      "word", "0 to 1"),
    "share_followed": number("share of pairs for which the likeliest word with the evidence is the word that the "
        "stance implies", "0 to 1"),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
}  # fmt: skip
"""Columns of usage.csv."""
SCHEMA = schema_of(COLUMNS)


def usage(pairs: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Summarise ``pairs`` for each unit: by stance, for both sufficient stances together, and for all stances.

    A unit is a combination of claim set, generator and template. For the interval of mean ACU, all of a claim's pairs
    are resampled together, because they share the probabilities without evidence. A memory conflict is evidence that
    contradicts the prediction made without evidence. Returns columns SCHEMA.
    """
    rows = [
        {**names, **_counted(part), **_interval(part, resamples, seed)} for names, part in strata(pairs) if part.height
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def strata(pairs: pl.DataFrame) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """Yield each unit's rows: for each stance, for both sufficient stances together, and for all stances."""
    for key, unit in pairs.group_by(UNITS, maintain_order=True):
        names = dict(zip(UNITS, map(str, key), strict=True))
        for stance in STANCES:
            yield names | {"stance": stance}, unit.filter(evidence_stance=stance)
        yield names | {"stance": SUFFICIENT}, unit.filter(pl.col("evidence_stance").is_in(list(MEANT)))
        yield names | {"stance": ALL}, unit


def clustered_interval(clusters: Array, sums: Array, resamples: int, seed: int) -> Interval:
    """Compute the interval of a mean by resampling clusters. ``clusters`` (n,): each value's cluster number, from 0."""
    size = int(clusters.max()) + 1
    totals = np.column_stack([np.bincount(clusters, minlength=size), np.bincount(clusters, sums, minlength=size)])
    whole = totals.sum(axis=0)
    drawn = np.vstack([weights @ totals for weights in resample_counts(size, resamples, seed)])
    left_out = whole - totals
    return bca_interval(float(whole[1] / whole[0]), drawn[:, 1] / drawn[:, 0], left_out[:, 1] / left_out[:, 0])


def numbered(claim_ids: pl.Series) -> Array:
    """Number the claims from 0, and return the claim number of each row as an array (n,)."""
    return claim_ids.rank("dense").cast(pl.Int64).to_numpy() - 1


def _interval(part: pl.DataFrame, resamples: int, seed: int) -> dict[str, object]:
    values, claims = part["acu"].to_numpy(), numbered(part["claim_id"])
    if part["claim_id"].n_unique() < CLAIMS_AT_LEAST:
        return {"reason": f"fewer than {CLAIMS_AT_LEAST} claims"}
    if is_constant(values):
        return {"reason": "ACU is constant"}
    interval = clustered_interval(claims, values, resamples, seed)
    return {
        "low": interval.low,
        "high": interval.high,
        "method": METHOD,
        "resamples": resamples,
        "reason": interval.reason,
    }


def _counted(part: pl.DataFrame) -> dict[str, object]:
    conflicting = part.filter(pl.col("memory_conflict"))
    predictions = {
        f"said_{word}{ending}": part.select(pl.col(f"prediction{ending}").str.to_lowercase() == word).mean().item()
        for word in ("true", "none", "false")
        for ending in ("", "_evidence")
    }
    means = ("change_true", "change_none", "change_false", "mass", "mass_evidence")
    return predictions | {
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
