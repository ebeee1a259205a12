"""Build single-passage prompts for a retriever's first passages."""

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.layout import build_single_prompts
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    prompts = build_single_prompts(
        pl.read_parquet(snakemake.input.queries),
        pl.read_parquet(snakemake.input.contexts),
        Template(**snakemake.params.template),
        snakemake.params.depth,
    )
    write_parquet(prompts, snakemake.output[0])
