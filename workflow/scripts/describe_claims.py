"""Characteristics of evidence that no model is needed for."""

from pathlib import Path

import polars as pl
from ragrelay.claims.characteristics import characteristics, domains
from ragrelay.io.atomic_files import write_json, write_parquet
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    listed = snakemake.input.get("unreliable")
    table, entities = characteristics(
        pl.read_parquet(snakemake.input.claims),
        snakemake.params.entities,
        domains(Path(listed)) if listed else None,
    )
    write_parquet(table, snakemake.output.table)
    write_json({"entities": entities}, snakemake.output.entities)
