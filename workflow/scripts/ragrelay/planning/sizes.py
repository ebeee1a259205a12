"""The plan's line on how small a difference the study can detect, from its own answers or else from a default."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.analysis.sizes import ASSUMED_SD, detectable_difference, queries_for_margin
from ragrelay.analysis.systems import PRIMARY
from ragrelay.analysis.verdicts import QUERIES_AT_LEAST
from ragrelay.display.numbers import count, counted, number


def size_note(part: Mapping[str, Any]) -> str:
    """A line on the primary comparison of one dataset and generator.

    ``part``: dataset, generator, margin, queries (the dataset's table of them), systems and variance (tables of the
    analysis, which need not exist yet), primary (see vocabulary.primary.Primary).
    """
    name, margin, primary = f"{part['dataset']}, {part['generator']}", part["margin"], part["primary"]
    n = pl.scan_parquet(part["queries"]).select(pl.len()).collect().item()
    sd, source, seeds = ASSUMED_SD, "assumed", ""
    if Path(part["systems"]).is_file():
        rows = pl.read_csv(part["systems"]).filter(role=PRIMARY).drop_nulls("sd_difference")
        for row in rows.iter_rows(named=True):
            n, sd, source = row["n"], row["sd_difference"], "this study's answers"
    if Path(part["variance"]).is_file():
        where = {key: primary[key] for key in ("retriever", "ordering", "k", "references")}
        needed = pl.read_csv(part["variance"]).filter(**where)["seeds_for_reliable"].drop_nulls()
        seeds = f"; a reliability of 0.9 takes {counted(needed[0], 'seed')}" if len(needed) else ""
    if n < QUERIES_AT_LEAST:
        return f"{name}: {count(n)} queries are too few for any comparison of retrievers."
    return (
        f"{name}: with {count(n)} queries, a difference in mean P of ~{number(detectable_difference(n, sd))} is found "
        f"in 80% of studies; equivalence at a margin of {number(margin, 2)} takes ~"
        f"{count(queries_for_margin(margin, sd))} queries (standard deviation of a difference {number(sd, 2)}: "
        f"{source}){seeds}."
    )
