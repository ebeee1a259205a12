"""Build the prompts for a passage judge's bias checks."""

import polars as pl
from ragrelay.annexes.labels.passage_checks import build_check_prompts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    contexts = [pl.read_parquet(path, columns=["qid", "rank", "docno", "text"]) for path in inputs.contexts]
    template = Template(**params.template)
    asked, prompts = build_check_prompts(pl.read_parquet(inputs.queries), contexts, template, **params.sample)
    write_parquet(asked, snakemake.output.asked)
    write_parquet(prompts, snakemake.output.prompts)
