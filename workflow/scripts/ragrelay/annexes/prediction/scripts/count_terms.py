"""Count the words in a dataset's passages, store the counts in the cache, and write a receipt."""

import polars as pl
from ragrelay.annexes.prediction.terms import count_terms
from ragrelay.base.io.atomic_files import write_json
from ragrelay.collection import open_collection
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    params = snakemake.params
    queries = pl.read_parquet(snakemake.input.queries)
    receipt = count_terms(open_collection(params.dataset), queries, params.cache_dir)
    write_json(receipt, snakemake.output[0])
