"""Compare the mean ACU of each model and data set with the values published by Hagström et al. (ACL 2025)."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.annexes.acu.usage import ALL
from ragrelay.annexes.acu.usage import COLUMNS as USAGE
from ragrelay.annexes.reproduction.cells import WITH_PUBLISHED, with_difference
from ragrelay.annexes.reproduction.published import Row
from ragrelay.base.vocabulary.columns import STUDY_PART, integer, read_rows, text

CLAIMS = {
    "claims": text("name of the set of claims in the configuration"),
    "generator": STUDY_PART["generator"],
    "template": text("name of the prompt template"),
    "n": integer("number of claim–evidence pairs over all stances", "pairs"),
    **WITH_PUBLISHED,
}
"""Columns of claims.csv."""


def compare_published_claims(published: Sequence[Row], usage: str | Path) -> pl.DataFrame:
    """Compare the published mean ACU with ours (columns CLAIMS). ``usage``: a file with columns acu.usage.COLUMNS."""
    theirs = pl.DataFrame(published, schema={"model": pl.String, "dataset": pl.String, "mean_acu": pl.Float64})
    named = theirs.rename({"model": "generator", "dataset": "claims", "mean_acu": "published"}).drop_nulls()
    ours = read_rows([usage], USAGE).filter(stance=ALL).rename({"mean_acu": "value"})
    rows = named.join(ours, on=["claims", "generator"], how="inner", maintain_order="left")
    return with_difference(rows, CLAIMS)
