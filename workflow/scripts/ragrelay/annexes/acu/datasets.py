"""Describe and compare sets of claims by relevance, stance and mean characteristics.

The tables correspond to Figure 2 and Tables 8 and 9 of Hagström et al., ACL 2025.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ragrelay.analysis.correlation import is_constant
from ragrelay.annexes.acu.characteristic_columns import NAMES, OF_MODELS
from ragrelay.annexes.acu.usage import CLAIMS_AT_LEAST, METHOD, UNIT_COLUMNS, UNITS, clustered_interval, numbered
from ragrelay.base.vocabulary.columns import (
    INTERVAL,
    INTERVAL_METHOD,
    REASON,
    RESAMPLES,
    boolean,
    integer,
    number,
    schema_of,
    text,
)

RESAMPLES_AT_MOST = 2_000
COMPOSITION = {
    "claims": UNIT_COLUMNS["claims"],
    "stance": text("stance of the evidence; empty if the claims file has none"),
    "relevant": boolean("whether the evidence is relevant; empty if the claims file doesn't say"),
    "n": integer("number of claim–evidence pairs", "pairs"),
    "n_claims": integer("number of distinct claims", "claims"),
    "share": number("share of the set's claim–evidence pairs that have this stance and relevance", "0 to 1"),
}
"""Columns of composition.csv."""
MEANS = {
    "claims": UNIT_COLUMNS["claims"],
    "generator": text("name of the generator; empty for characteristics that don't depend on a generator"),
    "template": text("name of the prompt template; empty for characteristics that don't depend on a prompt"),
    "characteristic": text("name of the evidence's characteristic; in the statistics, true counts as 1 and false as 0"),
    "mean": number("mean of the characteristic over claim–evidence pairs"),
    **INTERVAL,
    "n": integer("number of claim–evidence pairs for which the characteristic is known", "pairs"),
    "n_claims": integer("number of distinct claims among the pairs", "claims"),
    "n_missing": integer("number of claim–evidence pairs for which the characteristic is unknown", "pairs"),
    "method": INTERVAL_METHOD,
    "resamples": RESAMPLES,
    "reason": REASON,
}  # fmt: skip
"""Columns of characteristics.csv."""


def composition(claims: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Count the claim-evidence pairs in each set, by stance and relevance (columns COMPOSITION)."""
    keys = ["stance", "relevant"]
    frames = [
        frame.rename({"evidence_stance": "stance"})
        .group_by(keys)
        .agg(n=pl.len().cast(pl.Int64), n_claims=pl.col("claim_id").n_unique().cast(pl.Int64))
        .sort(keys, descending=[False, True], nulls_last=True)
        .select(pl.lit(name).alias("claims"), *keys, "n", "n_claims", share=pl.col("n") / frame.height)
        for name, frame in claims.items()
    ]
    return pl.concat(frames)


def characteristic_means(
    claims: Mapping[str, pl.DataFrame],
    characteristics: Mapping[str, pl.DataFrame],
    pairs: pl.DataFrame,
    resamples: int,
    seed: int,
) -> pl.DataFrame:
    """Compute the mean of each characteristic for each set of claims (columns MEANS).

    Characteristics that depend on a generator have one mean for each set, generator and template. ``claims`` and
    ``characteristics`` map each set's name to the set's claim-evidence pairs; ``pairs`` contains only pairs that have a
    stance. For intervals, all of a claim's pairs are resampled together.
    """
    settings = (min(resamples, RESAMPLES_AT_MOST), seed)
    rows: list[dict[str, object]] = []
    for name, frame in claims.items():
        known = frame.select("id", "claim_id").join(characteristics[name], on="id", how="left", maintain_order="left")
        rows += [{"claims": name, **row} for row in _rows(known, [n for n in NAMES if n not in OF_MODELS], *settings)]
    for key, unit in pairs.group_by(UNITS, maintain_order=True):
        names = dict(zip(UNITS, key, strict=True))
        rows += [names | row for row in _rows(unit, OF_MODELS, *settings)]
    return pl.DataFrame(rows, schema=schema_of(MEANS))


def _rows(frame: pl.DataFrame, names: Sequence[str], resamples: int, seed: int) -> Iterator[dict[str, object]]:
    for name in names:
        known = frame.filter(pl.col(name).is_not_null())
        n_claims = known["claim_id"].n_unique()
        counts = {"n": known.height, "n_claims": n_claims, "n_missing": frame.height - known.height}
        row = {"characteristic": name, **counts}
        values = known[name].cast(pl.Float64).to_numpy()
        if not known.height:
            yield row | {"reason": "no value"}
            continue
        row["mean"] = float(values.mean())
        if n_claims < CLAIMS_AT_LEAST:
            yield row | {"reason": f"fewer than {CLAIMS_AT_LEAST} claims"}
        elif is_constant(values):
            yield row | {"reason": f"{name} is constant"}
        else:
            interval = clustered_interval(numbered(known["claim_id"]), values, resamples, seed)
            ends = {"low": interval.low, "high": interval.high, "reason": interval.reason}
            yield row | ends | {"method": METHOD, "resamples": resamples}
