"""Build each claim's prompts from a template: one with the evidence and one without."""

import polars as pl
from ragrelay.annexes.acu.prompts import ClaimTemplate, build_claim_prompts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    template = ClaimTemplate(**snakemake.params.template)
    write_parquet(build_claim_prompts(pl.read_parquet(snakemake.input[0]), template), snakemake.output[0])
