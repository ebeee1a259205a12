"""Build the prompts for a retriever's changed contexts."""

import polars as pl
from ragrelay.annexes.interventions.prompts import build_changed_prompts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    files = {name: pl.read_parquet(snakemake.input[name]) for name in ("queries", "changed", "contexts", "texts")}
    write_parquet(build_changed_prompts(**files, template=Template(**snakemake.params.template)), snakemake.output[0])
