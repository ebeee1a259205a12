"""Compute the evidence characteristics that don't depend on a generator."""

from pathlib import Path

import polars as pl
from ragrelay.annexes.acu.characteristics import describe_claims, domains
from ragrelay.base.io.atomic_files import write_json, write_parquet
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    unreliable, reliable = (snakemake.input.get(name) for name in ("unreliable", "reliable"))
    judged = snakemake.input.get("judged")
    table, entities = describe_claims(
        pl.read_parquet(snakemake.input.claims),
        snakemake.params.entities,
        domains(Path(unreliable)) if unreliable else None,
        domains(Path(reliable)) if reliable else None,
        judged=pl.read_parquet(judged) if judged else None,
    )
    write_parquet(table, snakemake.output.table)
    write_json({"entities": entities}, snakemake.output.entities)
