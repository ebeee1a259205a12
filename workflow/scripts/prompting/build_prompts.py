"""Build a retriever's prompts (or the zero-shot prompts) for every ordering and k in the grid."""

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.prompting.layout import kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template

with job_log(snakemake.log[0], snakemake.input):
    queries = pl.read_parquet(snakemake.input.queries)
    template = Template(**snakemake.params.template)
    contexts = pl.read_parquet(snakemake.input.contexts) if snakemake.input.get("contexts") else None
    files = keyed_files(snakemake.params.patterns, snakemake.output)["prompts"]
    for (ordering, k), path in files.by("ordering", "k").items():
        if contexts is None:
            prompts = zeroshot_prompts(queries, template)
        else:
            prompts = kshot_prompts(queries, contexts, template, ordering, k)
        write_parquet(prompts, path)
