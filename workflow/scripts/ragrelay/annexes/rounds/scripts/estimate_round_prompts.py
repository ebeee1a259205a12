"""Build stand-in prompts for a retriever's rounds after the first, so that the plan can estimate their cost."""

import polars as pl
from ragrelay.annexes.rounds.prompts import estimate_round_prompts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    queries, contexts = (pl.read_parquet(path) for path in (inputs.queries, inputs.contexts))
    template, params = Template(**snakemake.params.template), snakemake.params
    for number, path in enumerate(snakemake.output, start=params.first):
        write_parquet(estimate_round_prompts(queries, contexts, template, number * params.k, params.seeds), path)
