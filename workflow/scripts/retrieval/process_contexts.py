"""Process a retriever's contexts and cache the texts. Outputs: its contexts with the shown texts, and a receipt.

Alternatively, only check whether texts are missing.
"""

import shutil

import polars as pl
from ragrelay.base.io.atomic_files import atomic, write_json, write_parquet
from ragrelay.base.io.cache_use import in_use
from ragrelay.base.io.missing_counts import counted_work
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.retrieval.processing import process_contexts

with job_log(snakemake.log[0], snakemake.input), in_use(snakemake.params.cache_dir), counted_work(snakemake):
    inputs, made, params = snakemake.input, snakemake.output, snakemake.params
    contexts, receipt = process_contexts(
        pl.read_parquet(inputs.queries),
        pl.read_parquet(inputs.contexts),
        params.ks,
        params.definition,
        params.cache_dir,
        "processor of retriever {retriever} for dataset {dataset}".format(**snakemake.wildcards),
        snakemake.threads,
    )
    if made.get("receipt"):
        write_parquet(contexts, made.contexts)
        with atomic(made.skipped) as temporary:
            shutil.copyfile(inputs.skipped, temporary)
        write_json(receipt, made.receipt)
