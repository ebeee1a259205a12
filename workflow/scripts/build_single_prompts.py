"""Prompts with each of a retriever's first passages alone."""

import polars as pl
from ragrelay.erag.prompts import single_prompts
from ragrelay.files import write_parquet
from ragrelay.jobs import job_log
from ragrelay.prompts import Template

with job_log(snakemake.log[0]):
    prompts = single_prompts(
        pl.read_parquet(snakemake.input.queries),
        pl.read_parquet(snakemake.input.contexts),
        Template(**snakemake.params.template),
        snakemake.params.depth,
    )
    write_parquet(prompts, snakemake.output[0])
