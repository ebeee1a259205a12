"""Lay claims out by a template, without their evidence and with it."""

import polars as pl
from ragrelay.acu.prompts import ClaimTemplate, claim_prompts
from ragrelay.files import write_parquet
from ragrelay.jobs import job_log

with job_log(snakemake.log[0]):
    template = ClaimTemplate(**snakemake.params.template)
    write_parquet(claim_prompts(pl.read_parquet(snakemake.input[0]), template), snakemake.output[0])
